/// Timelines of Horovod (`HOROVOD_TIMELINE`): a list of Chrome's events in which each tensor is a "process". Names of
/// phases: horovod `horovod/common/timeline.cc`, `common.h`; rank 0 writes the file, of the negotiations of all ranks.
///
/// A step is from the end of one step's last exchange to that of the next: update, input and forward pass lie before
/// its first gradient, whose negotiation begins when the first rank has it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "analysis/job/job_format.hpp"
#include "analysis/job/json_elements.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNegotiation = "NEGOTIATE_";
/// The phases of tensors that travel together begin within microseconds; cycles are a millisecond apart.
constexpr double kTogether = 100e-6;

/// One exchange of one tensor, from its negotiation to its end.
struct HorovodExchange {
  std::string operation;    ///< `all-reduce` ..
  std::int64_t tensor = 0;  ///< the number of its "process"
  double ready = 0;         ///< when its negotiation began
  double launched = 0, began = 0, ended = 0;
  std::optional<std::int64_t> elements;
  std::string type;
};

/// The phases of one tensor that have begun and not ended, and the exchange that they are of.
struct Tensor {
  std::string name;
  std::vector<std::string> open;
  HorovodExchange exchange;
  bool moved = false;  ///< a phase that moves data has begun
};

/// Whether a phase within an exchange moves data; the others wait.
bool moves_data(std::string_view phase) {
  return phase.starts_with("MEMCPY_IN") || (phase.find('_') != phase.npos && !operation_word(phase).empty());
}

/// The elements of `[64, 3, 7, 7]`; absent for what is no shape.
std::optional<std::int64_t> elements_of(const std::string& shape) {
  const std::int64_t elements = known_elements(elements_of_shape(read_json(shape)));
  return elements > 0 ? std::optional(elements) : std::nullopt;
}

class HorovodReader {
 public:
  explicit HorovodReader(const std::string& file_name) : source_(file_name), file_name_(file_name) {}

  /// Those that ended, in the order of their readiness.
  std::vector<HorovodExchange> run() {
    // Older Horovods never close the list: what is there counts.
    visit_json(source_, {.list = "traceEvents",
                         .member = [](const auto&, const Json&) {},
                         .element = [&](auto text) { event(parse_element(text, file_name_)); }});
    std::ranges::stable_sort(done_, {}, &HorovodExchange::ready);
    return std::move(done_);
  }

  /// `fc.weight` for `allreduce.fc.weight`.
  std::string name_of(std::int64_t tensor) const {
    const std::string& name = tensors_.at(tensor).name;
    const std::size_t dot = name.find('.');
    return dot != name.npos && !operation_word(name.substr(0, dot)).empty() ? name.substr(dot + 1) : name;
  }
  /// Ranks that announced a tensor; 0: none was seen, as when all negotiations were answered from the cache.
  int world() const { return static_cast<int>(ranks_.size()); }
  const std::string& backend() const { return backend_; }

 private:
  void event(const Json& event) {
    const double process = json_number(event, "pid"), at = json_number(event, "ts") * 1e-6;
    if (!(process >= 0 && process < 1e9)) return;
    const auto [known, is_new] = tensors_.try_emplace(static_cast<std::int64_t>(process));
    if (is_new) source_.keeps(2 * sizeof(Tensor));
    Tensor& tensor = known->second;
    tensor.exchange.tensor = static_cast<std::int64_t>(process);
    const std::string kind = json_text(event, "ph"), name = json_text(event, "name");
    const Json& facts = json_object(event, "args");
    if (kind == "M" && name == "process_name") tensor.name = json_text(facts, "name");
    if (!std::isfinite(at)) return;
    if (kind == "B") begin(tensor, name, at);
    if (kind == "E") end(tensor, facts, at);
    const bool announced = kind == "X" && !tensor.open.empty() && tensor.open.back().starts_with(kNegotiation);
    if (announced && !name.empty() && name.find_first_not_of("0123456789") == name.npos) ranks_.insert(name);
  }

  void begin(Tensor& tensor, const std::string& phase, double at) {
    source_.keep(tensor.open, phase, phase.size());
    if (phase.starts_with(kNegotiation)) {
      tensor.exchange.ready = at;
      return;
    }
    if (tensor.open.size() == 1) {
      tensor.exchange.operation = operation_word(phase);
      tensor.exchange.launched = at;
      tensor.moved = false;
    }
    if (tensor.open.size() != 2 || !moves_data(phase)) return;
    if (!tensor.moved) tensor.exchange.began = at;
    tensor.moved = true;
    if (!operation_word(phase).empty() && backend_.empty()) backend_ = lower_case(phase.substr(0, phase.find('_')));
  }

  void end(Tensor& tensor, const Json& facts, double at) {
    if (tensor.open.empty()) return;
    const bool negotiated = tensor.open.back().starts_with(kNegotiation);
    tensor.open.pop_back();
    if (negotiated || !tensor.open.empty()) return;
    HorovodExchange& exchange = tensor.exchange;
    exchange.ended = at;
    exchange.elements = elements_of(json_text(facts, "shape"));
    exchange.type = type_word(json_text(facts, "dtype"));
    if (!exchange.operation.empty() && tensor.moved) source_.keep(done_, exchange);
  }

  TextSource source_;
  std::string file_name_, backend_;
  std::unordered_map<std::int64_t, Tensor> tensors_;
  std::set<std::string> ranks_;
  std::vector<HorovodExchange> done_;
};

/// Exchanges of one step, in the order of their readiness.
using Step = std::vector<HorovodExchange>;

/// A step is over when a tensor comes again.
std::vector<Step> steps_of(std::vector<HorovodExchange> exchanges) {
  std::vector<Step> steps(1);
  std::set<std::int64_t> seen;
  for (HorovodExchange& each : exchanges) {
    if (each.operation != "all-reduce") continue;
    if (!seen.insert(each.tensor).second) {
      steps.emplace_back();
      seen = {each.tensor};
    }
    steps.back().push_back(std::move(each));
  }
  return steps;
}

double end_of(const Step& step) { return std::ranges::max_element(step, {}, &HorovodExchange::ended)->ended; }

/// The tensors of a step that travelled together, as places in the step, in the order in which they were launched.
std::vector<std::vector<std::size_t>> buckets_of(const Step& step) {
  std::vector<std::size_t> order(step.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t place) { return step[place].began; });
  std::vector<std::vector<std::size_t>> buckets;
  double last = 0, earliest_end = 0;
  for (const std::size_t place : order) {
    const HorovodExchange& each = step[place];
    if (buckets.empty() || each.began - last > kTogether || each.began >= earliest_end) {
      buckets.emplace_back();
      earliest_end = each.ended;
    }
    buckets.back().push_back(place);
    last = each.began;
    earliest_end = std::min(earliest_end, each.ended);
  }
  return buckets;
}

RecordedCollective collective_of(const Step& step, const std::vector<std::size_t>& bucket, double begin, int world) {
  RecordedCollective collective{.operation = "all-reduce", .ranks = world, .in_backward = true};
  double launched = INFINITY, began = INFINITY, ended = 0;
  bool known = true;
  for (const std::size_t place : bucket) {
    const HorovodExchange& each = step[place];
    launched = std::min(launched, each.launched);
    began = std::min(began, each.began);
    ended = std::max(ended, each.ended);
    known = known && each.elements.has_value();
    collective.elements += each.elements.value_or(0);
    if (collective.type.empty()) collective.type = each.type;
  }
  if (!known) collective.elements = 0;
  collective.launched = Seconds(launched - begin);
  collective.began = Seconds(began - begin);
  collective.duration = Seconds(ended - began);
  return collective;
}

/// A step that begins at `begin`.
RecordedStep recorded(const Step& step, double begin, std::string name, const HorovodReader& reader) {
  RecordedStep result{.name = std::move(name), .time = Seconds(end_of(step) - begin)};
  result.backward_began = Seconds(std::max(0.0, step.front().ready - begin));
  result.backward_ended = Seconds(std::max(0.0, step.back().ready - begin));
  result.exposed = result.time - *result.backward_ended;
  for (const HorovodExchange& each : step)
    result.gradients.push_back(
        {reader.name_of(each.tensor), each.elements.value_or(0), Seconds(std::max(0.0, each.ready - begin))});
  std::size_t before = 0;
  bool in_order = true;
  for (const std::vector<std::size_t>& bucket : buckets_of(step)) {
    RecordedCollective collective = collective_of(step, bucket, begin, reader.world());
    // Which tensors a bucket has is known by their number only where none was overtaken by a later one.
    in_order = in_order && *std::ranges::max_element(bucket) + 1 == before + bucket.size();
    before += bucket.size();
    if (in_order) collective.gradients_before = static_cast<int>(before);
    result.collectives.push_back(std::move(collective));
  }
  return result;
}

bool alike_steps(const RecordedStep& a, const RecordedStep& b) {
  return std::ranges::equal(a.collectives, b.collectives, {}, &RecordedCollective::elements,
                            &RecordedCollective::elements);
}

bool is_horovod(std::string_view head) {
  const bool object = first_mark(head) == '{' && head.find("\"traceEvents\"") != head.npos;  // saved by a viewer
  return (object || first_mark(head) == '[') && head.find("\"ph\"") != head.npos &&
         (head.find(kNegotiation) != head.npos || head.find("start_time_since_epoch_in_micros") != head.npos);
}

Error no_steps(const std::string& file_name, const std::vector<HorovodExchange>& exchanges) {
  std::set<std::string> others;
  for (const HorovodExchange& each : exchanges)
    if (each.operation != "all-reduce") others.insert(each.operation);
  return {ExitCode::usage,
          fmt::format("{}: no tensor is reduced twice, so where steps begin is not known{}", file_name,
                      others.empty() ? "" : fmt::format("; what it exchanges otherwise: {}", fmt::join(others, ", "))),
          "record some steps with HOROVOD_TIMELINE=timeline.json"};
}

std::vector<Recording> read_horovod(const std::string& file_name) {
  HorovodReader reader(file_name);
  const std::vector<HorovodExchange> exchanges = reader.run();
  const std::vector<Step> steps = steps_of(exchanges);
  if (steps.size() < 2 || steps.front().empty()) throw no_steps(file_name, exchanges);
  Recording recording{
      .file = file_name, .rank = 0, .world = reader.world(), .backend = reader.backend(), .of_all = true};
  for (std::size_t i = 1; i < steps.size(); ++i)
    recording.steps.push_back(recorded(steps[i], end_of(steps[i - 1]), fmt::format("step {}", i + 1), reader));
  recording.unknown.push_back(
      "A Horovod timeline does not show the forward pass: what comes before the first gradient (update, input, forward "
      "pass) counts as forward; torch.profiler records it.");
  if (std::ranges::any_of(steps.back(), [](const HorovodExchange& each) { return !each.elements; }))
    recording.unknown.push_back(
        "The shapes of its tensors are not in the timeline: --tensors names a workload that has the same ones.");
  if (std::ranges::any_of(recording.steps,
                          [&](const auto& step) { return !alike_steps(step, recording.steps.front()); }))
    recording.unknown.push_back("Horovod fused other tensors in other steps: only those of one kind are shown.");
  return {std::move(recording)};
}

}  // namespace

extern constinit const JobFormat kHorovodFormat{
    .name = "horovod",
    .summary = "a timeline of Horovod",
    .example = "HOROVOD_TIMELINE=timeline.json horovodrun -np 8 python3 train.py",
    .advice = {.sizes = "name a workload that has them by --tensors",
               .launches = "lower HOROVOD_CYCLE_TIME or "
                           "HOROVOD_FUSION_THRESHOLD"},
    .recognises = is_horovod,
    .read = read_horovod};

}  // namespace hbench
