/// Logs of Megatron-LM and what is built on it (NeMo, Primus, DeepSpeed's fork), with whatever a launcher puts before a
/// line. Lines and timers: NVIDIA/Megatron-LM `megatron/training/training.py` (training_log),
/// `megatron/core/timers.py`, `megatron/core/distributed/param_and_grad_buffer.py`.
///
/// Timers are of one iteration, all its micro-batches together, and follow the line of their iteration. Of (min, max)
/// over ranks the slowest rank's own path is taken: the most of what computes, the least of what waits.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/job/job_format.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// In milliseconds; Megatron-DeepSpeed, which trained BLOOM, says seconds: `(s):`.
constexpr std::string_view kStep = "elapsed time per iteration (";
constexpr std::string_view kForward = "forward-compute", kBackward = "backward-compute";
/// The passes, each by the names that Megatron and GPT-NeoX write.
constexpr std::array kPasses{std::pair{kForward, kForward}, std::pair{kBackward, kBackward},  //
                             std::pair{kForward, std::string_view("forward")},
                             std::pair{kBackward, std::string_view("backward")}};
/// Waiting for gradients, and for the parameters that other ranks updated. The older ones after the line.
constexpr std::array<std::string_view, 5> kExchanges{"all-grads-sync", "params-all-gather",  //
                                                     "backward-params-all-reduce", "backward-reduce-model-grads",
                                                     "backward-gather-model-params"};
/// DeepSpeed's timer of its exchange, which is a part of its backward pass, in a line of its own now and then.
constexpr std::string_view kDeepSpeed = "backward_allreduce";
/// The bytes that the timers of an iteration take in memory.
constexpr std::size_t kTimerBytes = 256;
/// Of a line; what comes after belongs to no line of Megatron's.
constexpr std::size_t kMostLogBytes = 1 << 16;

/// The number that a text begins with, blanks before it left out; absent where it goes on in a way that is not
/// understood, as in `2,110.5`.
std::optional<double> number_at(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.size() > 1 && text.front() == ',' && std::isdigit(static_cast<unsigned char>(text[1])) != 0)
    return std::nullopt;
  return failed == std::errc() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<double> number_after(std::string_view line, std::string_view words) {
  const std::size_t found = line.find(words);
  return found == line.npos ? std::nullopt : number_at(line.substr(found + words.size()));
}

/// Positive and whole; 0 where there is none.
std::int64_t count_after(std::string_view line, std::string_view words, double most = 1e9) {
  const std::optional<double> number = number_after(line, words);
  return number && *number >= 1 && *number <= most ? static_cast<std::int64_t>(*number) : 0;
}

/// `forward-compute ......: (98.1, 102.5)`, `forward-compute ....: 102.5` and, in a line with others,
/// `| forward-compute: 102.5 |`; in seconds. Absent where the line does not have the timer.
std::optional<Seconds> timer_in(std::string_view line, std::string_view name, bool waits) {
  const std::size_t found = line.find(name);
  if (found == line.npos || (found > 0 && line[found - 1] != ' ' && line[found - 1] != '\t')) return std::nullopt;
  std::string_view rest = line.substr(found + name.size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(" .")));
  if (!rest.starts_with(':')) return std::nullopt;
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(": ")));
  std::optional<double> value;
  if (rest.starts_with('(')) {
    value = waits ? number_at(rest.substr(1, rest.find(',') - 1)) : number_after(rest, ",");
  } else {
    value = number_at(rest);
  }
  return value && *value >= 0 ? std::optional(Seconds(*value / 1e3)) : std::nullopt;
}

/// What `name=True` of a configuration, or `name ........ True` of the list of arguments, has after the name; empty
/// where a line has neither.
std::string_view setting_in(std::string_view line, std::string_view name) {
  const std::size_t found = line.find(name);
  if (found == line.npos || (found > 0 && line[found - 1] == '_')) return {};
  const std::string_view rest = line.substr(found + name.size());
  const std::size_t skipped = rest.find_first_not_of(" .=");
  return skipped == 0 || skipped == rest.npos ? std::string_view() : rest.substr(skipped);
}

/// What a line says of the time of an iteration.
std::optional<Seconds> iteration_time(std::string_view line) {
  for (const auto& [unit, seconds] : {std::pair("ms):", 1e-3), std::pair("s):", 1.0)})
    if (const auto number = number_after(line, std::string(kStep) + unit)) return Seconds(*number * seconds);
  return std::nullopt;
}

/// One iteration, or the mean of those since the line before.
struct Iteration {
  std::int64_t number = 0;  ///< 0: not known
  Seconds time;
  std::int64_t batch = 0;  ///< of all ranks; 0: not in its line
  std::map<std::string_view, Seconds> timers;
  Seconds reduced;  ///< in its backward pass, as DeepSpeed timed it last; 0: it did not
};

struct Log {
  std::vector<Iteration> iterations;
  std::vector<std::int64_t> buckets;                                   ///< elements
  std::int64_t world = 0, data_parallel = 0, pipeline = 0, batch = 0;  ///< 0: not in the log
  std::string type;                                                    ///< of a gradient on its way
  std::optional<bool> overlapped;  ///< whether gradients travel during the backward pass
  bool sharded_optimizer = false;
  std::vector<std::string> left_out;  ///< what of the file does not count, in sentences
};

class MegatronReader {
 public:
  explicit MegatronReader(const std::string& file_name) : source_(file_name) {}

  Log run() {
    std::string text;
    for (int byte = source_.take(); byte >= 0; byte = source_.take()) {
      if (byte != '\n') {
        if (text.size() < kMostLogBytes) text.push_back(static_cast<char>(byte));
        continue;
      }
      line(text);
      text.clear();
    }
    // A line that no new line ends and that is shorter than all others of its kind may end within a number.
    const auto is_of = [&](const auto& kind) {
      return text.size() < kind.second && text.find(kind.first) != text.npos;
    };
    if (std::ranges::any_of(lengths_, is_of))
      log_.left_out.push_back("The file ends within its last line, which is left out.");
    else
      line(text);
    if (runs_ > 1)
      log_.left_out.push_back(
          fmt::format("The file has {} runs, whose iterations begin anew: the last one counts.", runs_));
    keep_last_batch();
    return std::move(log_);
  }

 private:
  void line(std::string_view line) {
    if (line.find(kStep) != line.npos) return iteration(line);
    if (const auto time = timer_in(line, kDeepSpeed, false)) {
      reduced_ = *time;
      return;
    }
    for (const auto& [name, written] : kPasses) timer(line, name, written, false);
    for (const std::string_view name : kExchanges) timer(line, name, name, true);
    setting(log_.iterations.empty() ? log_ : next_, line);
  }

  void iteration(std::string_view line) {
    const std::optional<Seconds> time = iteration_time(line);
    if (!time || time->value <= 0) return;
    note_length(kStep, line);
    const std::int64_t number = count_after(line, "iteration ");
    if (number > 0 && !log_.iterations.empty()) {
      const auto known = std::ranges::lower_bound(log_.iterations, number, {}, &Iteration::number);
      // The line is another node's.
      if (known != log_.iterations.end() && known->number == number &&
          (known->time == *time || (known == std::prev(log_.iterations.end()) && next_.world == 0)))
        return;
      if (known != log_.iterations.end() || (next_.world > 0 && next_.world != log_.world)) {
        // The settings of the run were printed since the last iteration; a run may print none.
        if (next_.world > 0) log_ = next_;
        log_.iterations.clear();
        ++runs_;
      }
    }
    const std::int64_t batch = count_after(line, "global batch size:");
    source_.keep(log_.iterations, {number, *time, batch, {}, reduced_}, kTimerBytes);
    next_ = {};
    if (batch > 0) log_.batch = batch;
    // GPT-NeoX has the rate of all ranks in its place.
    if (const auto rate = number_after(line, "samples/sec:"); rate && batch == 0)
      log_.batch = std::llround(std::clamp(*rate * time->value, 0.0, 1e9));
  }

  void timer(std::string_view line, std::string_view name, std::string_view written, bool waits) {
    if (log_.iterations.empty()) return;
    const auto time = timer_in(line, written, waits);
    if (!time) return;
    note_length(written, line);
    log_.iterations.back().timers.try_emplace(name, *time);
  }

  void note_length(std::string_view words, std::string_view line) {
    std::size_t& least = lengths_.try_emplace(words, line.size()).first->second;
    least = std::min(least, line.size());
  }

  /// Leaves out what came before the batch had grown; a rate in a batch's place says nothing of that.
  void keep_last_batch() {
    const std::int64_t last = log_.iterations.empty() ? 0 : log_.iterations.back().batch;
    if (const auto others =
            std::erase_if(log_.iterations, [&](const Iteration& each) { return last > 0 && each.batch != last; }))
      log_.left_out.push_back(
          fmt::format("Iterations of other batches than the last one of {} are left out: {} of them.", last, others));
  }

  /// What is printed before the first iteration.
  static void setting(Log& log, std::string_view line) {
    if (line.find("using world size:") != line.npos) {
      log.world = count_after(line, "using world size:");
      log.data_parallel = count_after(line, "data-parallel size:");
      if (log.data_parallel == 0) log.data_parallel = count_after(line, "data-parallel-size:");  // before 2024
      log.pipeline = count_after(line, " pipeline-model-parallel size:");
    }
    for (const auto& [name, count] :
         {std::pair("world_size", &Log::world), {"data_parallel_size", &Log::data_parallel}})
      if (const std::int64_t ranks = count_after(setting_in(line, name), ""); ranks > 0) log.*count = ranks;
    if (line.find("Params for bucket ") != line.npos) {
      const std::size_t bracket = line.find('(');
      if (const auto elements = bracket == line.npos ? 0 : count_after(line.substr(bracket), "(", 1e12); elements > 0)
        log.buckets.push_back(elements);
    }
    if (line.find("using torch.") != line.npos && line.find(" for parameters") != line.npos && log.type.empty())
      log.type = type_word(line.substr(line.find("using torch.")));
    if (line.find("grad_reduce_in_fp32=True") != line.npos) log.type = "float32";
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (setting_in(line, "overlap_grad_reduce").starts_with(word)) log.overlapped = value;
      if (setting_in(line, "use_distributed_optimizer").starts_with(word)) log.sharded_optimizer = value;
    }
  }

  TextSource source_;
  Log log_, next_;  ///< the next run's
  int runs_ = 1;
  Seconds reduced_;
  std::map<std::string_view, std::size_t> lengths_;  ///< of the shortest line, by its words
};

/// Whether all gradients travel in one exchange after the backward pass: what Megatron does unless it overlaps, and
/// what it always did while it had the older timers.
bool is_one_exchange(const Log& log, const Iteration& iteration) {
  const bool old = iteration.timers.contains(kExchanges[2]) || iteration.timers.contains(kExchanges[3]);
  return log.data_parallel != 1 && (log.overlapped == false || old);
}

RecordedCollective exchange_of(const Log& log, Seconds launched, Seconds duration) {
  return {.operation = log.sharded_optimizer ? "reduce-scatter" : "all-reduce",
          .elements = std::accumulate(log.buckets.begin(), log.buckets.end(), std::int64_t{0}),
          .type = log.type,
          .ranks = static_cast<int>(log.data_parallel),
          .in_backward = true,
          .launched = launched,
          .began = launched,
          .duration = duration};
}

RecordedStep step_of(const Log& log, const Iteration& iteration) {
  RecordedStep step{.name = fmt::format("iteration {}", iteration.number), .time = iteration.time};
  Seconds exposed;
  for (const std::string_view name : kExchanges) {
    const auto timer = iteration.timers.find(name);
    // Where the one after it is there, it is a part of that.
    const bool counts = name != kExchanges[2] || !iteration.timers.contains(kExchanges[3]);
    if (timer != iteration.timers.end() && counts) exposed += timer->second;
  }
  Seconds reduced;  // within the backward pass
  if (exposed.value <= 0) exposed = reduced = iteration.reduced;
  step.exposed = exposed;
  const auto forward = iteration.timers.find(kForward), backward = iteration.timers.find(kBackward);
  if (forward == iteration.timers.end() || backward == iteration.timers.end()) return step;
  step.backward_began = forward->second;
  step.backward_ended = forward->second + std::max(Seconds(0), backward->second - reduced);
  if (is_one_exchange(log, iteration) && exposed.value > 0)
    step.collectives.push_back(exchange_of(log, *step.backward_ended, exposed));
  return step;
}

std::vector<std::string> unknown_of(const Log& log) {
  std::vector<std::string> unknown = log.left_out;
  std::string buckets = "the log does not have the sizes of its buckets";
  if (!log.buckets.empty())
    buckets =
        fmt::format("its {} of {} elements", counted(std::ssize(log.buckets), "bucket"), fmt::join(log.buckets, ", "));
  if (!is_one_exchange(log, log.iterations.back()) || log.buckets.empty())
    unknown.push_back(fmt::format(
        "A log does not show when each gradient is ready ({}): --profile --use-pytorch-profiler records a step.",
        buckets));
  if (log.pipeline > 1)
    unknown.push_back(fmt::format("This job is a pipeline of {} stages: their waiting for each other counts as update.",
                                  log.pipeline));
  return unknown;
}

bool is_megatron(std::string_view head) {
  if (head.find('\0') != head.npos) return false;
  constexpr std::array<std::string_view, 4> kMarks{kStep, "[after megatron is initialized]", "INFO:megatron.core",
                                                   "tensor-model-parallel size:"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return head.find(mark) != head.npos; });
}

std::vector<Recording> read_megatron(const std::string& file_name) {
  const Log log = MegatronReader(file_name).run();
  if (log.iterations.empty())
    throw Error(ExitCode::usage, fmt::format("{}: no line of it says '{}ms): ..' with a number", file_name, kStep),
                "give the log of the rank that prints it (the last one), with --log-interval 1");
  Recording recording{.file = file_name,
                      .world = static_cast<int>(log.world),
                      .sharing = static_cast<int>(log.data_parallel),
                      .global_batch = static_cast<int>(log.batch),
                      .of_all = true};
  if (log.data_parallel > 0 && log.batch % log.data_parallel == 0)
    recording.batch = static_cast<int>(log.batch / log.data_parallel);
  for (const Iteration& iteration : log.iterations) recording.steps.push_back(step_of(log, iteration));
  recording.unknown = unknown_of(log);
  recording.no_backward = "Forward and backward pass are not in the log: train with --timing-log-level 2.";
  return {std::move(recording)};
}

}  // namespace

extern constinit const JobFormat kMegatronFormat{
    .name = "megatron",
    .summary = "a log of Megatron-LM: times, without sizes",
    .example = "torchrun .. pretrain_gpt.py --timing-log-level 2 > train.log",
    .advice = {.passes = "train with --timing-log-level 2",
               .sizes = "train with --profile --use-pytorch-profiler",
               .launches = "train with --overlap-grad-reduce"},
    .recognises = is_megatron,
    .read = read_megatron};

}  // namespace hbench
