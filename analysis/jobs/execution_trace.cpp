/// Execution traces of PyTorch (`ExecutionTraceObserver`; 1.13: execution graphs): every operator of a process with the
/// sizes of its tensors, and no times. Schemas 1.0.1 to 1.1.1: pytorch `torch/csrc/profiler/standalone/
/// execution_trace_observer.cpp`; the older one has as members what the newer one has as `attrs`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "analysis/jobs/job_format.hpp"
#include "analysis/jobs/json_elements.hpp"
#include "analysis/jobs/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

enum class Kind { other, task, gradient, exchange, forward, optimizer, step };

struct Tensors {
  std::int64_t elements = 0;
  std::string device;  ///< `cuda:1`, of the first
};

/// Adds up a tensor (`[id, storage, offset, elements, bytes of one, device]`) or a list of tensors.
Tensors tensors_of(const Json& value) {
  Tensors sum;
  if (!value.is_array() || value.empty()) return sum;
  if (value.size() == 6 && value[3].is_number() && value[5].is_string()) {
    sum.elements = known_elements(value[3].get<double>());
    sum.device = value[5].get<std::string>();
    return sum;
  }
  for (const Json& each : value) {
    const Tensors tensors = tensors_of(each);
    sum.elements += tensors.elements;
    if (sum.device.empty()) sum.device = tensors.device;
  }
  return sum;
}

/// One node of either schema.
class Node {
 public:
  explicit Node(const Json& json) : json_(json), inputs_(json_member(json, "inputs")) {
    const bool nested = inputs_ != nullptr && inputs_->is_object();
    types_ = nested ? json_member(*inputs_, "types") : json_member(json, "input_types");
    if (nested) inputs_ = json_member(*inputs_, "values");
  }

  std::string name() const { return json_text(json_, "name"); }
  double id() const { return json_number(json_, "id"); }
  double parent() const {
    const double parent = json_number(json_, "ctrl_deps");
    return std::isfinite(parent) ? parent : json_number(json_, "parent");
  }
  /// NaN where it is in neither place.
  double number(std::string_view name) const {
    const Json* value = attribute(name);
    return value != nullptr && value->is_number() ? value->get<double>() : NAN;
  }
  std::string text(std::string_view name) const {
    const Json* value = attribute(name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  }
  const Json& input(std::size_t place) const {
    static const Json kNone;
    return inputs_ != nullptr && inputs_->is_array() && place < inputs_->size() ? (*inputs_)[place] : kNone;
  }
  std::string first_type() const { return type_word(json_first_text(types_)); }

 private:
  const Json* attribute(std::string_view name) const {
    if (const auto found = json_.find(name); found != json_.end()) return &*found;
    const Json* attributes = json_member(json_, "attrs");
    if (attributes == nullptr || !attributes->is_array()) return nullptr;
    for (const Json& each : *attributes)
      if (each.is_object() && json_text(each, "name") == name) return json_member(each, "value");
    return nullptr;
  }

  const Json& json_;
  const Json *inputs_ = nullptr, *types_ = nullptr;
};

/// What is learned of one step.
struct Sizes {
  std::vector<std::int64_t> gradients, buckets;
  auto operator<=>(const Sizes&) const = default;
};

class Reader {
 public:
  explicit Reader(const std::string& file_name) { recording_.file = file_name; }

  Recording run() {
    TextSource source(recording_.file);
    const JsonVisitor visitor{.list = "nodes",
                              .member = [](const std::string&, const Json&) {},
                              .element = [&](auto text) { element(parse_element(text, recording_.file)); }};
    const bool complete = visit_json(source, visitor);
    take_step();
    if (!complete)
      recording_.unknown.push_back("The file ends before its list of nodes does: what came after is not known.");
    return std::move(recording_);
  }

 private:
  struct Place {
    std::int64_t parent = 0;
    Kind kind = Kind::other;
  };
  struct Exchange {
    std::int64_t id = 0, elements = 0;
    std::string operation, group;
  };

  void element(const Json& json) {
    const Node node(json);
    const double id = node.id(), parent = node.parent();
    if (!(std::abs(id) < 1e15)) return;
    const std::string name = node.name();
    const Kind kind = kind_of(node, name);
    nodes_[static_cast<std::int64_t>(id)] = {std::abs(parent) < 1e15 ? static_cast<std::int64_t>(parent) : 0, kind};
    if (kind == Kind::gradient) gradient(node, static_cast<std::int64_t>(id));
    if (kind == Kind::exchange) exchange(node, name, static_cast<std::int64_t>(id));
    if (name == "## process_group:init ##" && node.input(0).is_string())
      groups_ = Json::parse(node.input(0).get_ref<const std::string&>(), nullptr, false);
    if (name.starts_with("FSDP::")) recording_.sharded = true;
  }

  static Kind kind_of(const Node& node, std::string_view name) {
    if (name.starts_with(kBackwardTask)) return Kind::task;
    if (name == kAccumulateGrad) return Kind::gradient;
    if (name.starts_with("ProfilerStep#")) return Kind::step;
    if (name.starts_with("Optimizer.step#")) return Kind::optimizer;
    const bool called = name.starts_with("c10d::") || name.starts_with("_c10d_functional::");
    if (name == "record_param_comms" || (called && !operation_word(name).empty())) return Kind::exchange;
    return node.number("seq_id") >= 0 && node.number("scope") == 0 ? Kind::forward : Kind::other;
  }

  void gradient(const Node& node, std::int64_t id) {
    const Tensors tensor = tensors_of(node.input(0));
    gradients_.emplace_back(id, tensor.elements);
    if (recording_.gradient_type.empty()) recording_.gradient_type = node.first_type();
    if (device_.empty()) device_ = tensor.device.substr(0, tensor.device.find(':'));
  }

  /// `record_param_comms` lies in the call that it is of, and alone has the group: `[tensors, sequence, [name, what
  /// it is for], rank, operation, .., ranks]`.
  void exchange(const Node& node, const std::string& name, std::int64_t id) {
    Exchange exchange{.id = id, .elements = tensors_of(node.input(0)).elements};
    const Json& called = node.input(4);
    exchange.operation = operation_word(called.is_string() ? called.get_ref<const std::string&>() : name);
    exchange.group = node.text("pg_name");
    const double ranks = node.number("pg_size"), rank = node.input(3).is_number() ? node.input(3).get<double>() : -1;
    if (exchange.operation == "all-reduce" && ranks < 1e7 && rank >= 0 && rank < ranks)
      ranks_[exchange.group] = {static_cast<int>(ranks), static_cast<int>(rank)};
    exchanges_.push_back(std::move(exchange));
  }

  bool lies_in(std::int64_t id, Kind kind) const {
    constexpr int kDeepest = 10'000;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const auto node = nodes_.find(id);
      if (node == nodes_.end() || node->second.parent == id) return false;
      id = node->second.parent;
      if (const auto parent = nodes_.find(id); parent != nodes_.end() && parent->second.kind == kind) return true;
    }
    return false;
  }

  /// Where steps meet, by numbers of nodes, which are in the order of their begins: as the profiler marks them, else
  /// updates of the parameters, else forward passes.
  std::vector<std::int64_t> borders() const {
    std::vector<std::int64_t> borders;
    for (const Kind kind : {Kind::step, Kind::optimizer, Kind::forward}) {
      for (const auto& [id, place] : nodes_)
        if (place.kind == kind && (kind != Kind::forward || !lies_in(id, Kind::task))) borders.push_back(id);
      if (!borders.empty()) break;
    }
    std::ranges::sort(borders);
    return borders;
  }

  void take_step() {
    const std::vector<std::int64_t> borders = this->borders();
    const auto step_of = [&](std::int64_t id) { return std::ranges::upper_bound(borders, id) - borders.begin(); };
    std::map<std::ptrdiff_t, Sizes> steps;
    std::ranges::sort(gradients_);
    for (const auto& [id, elements] : gradients_) steps[step_of(id)].gradients.push_back(elements);
    std::ranges::sort(exchanges_, {}, &Exchange::id);
    std::set<std::string> groups;
    for (const Exchange& each : exchanges_) {
      if (!is_reduction(each.operation) || !lies_in(each.id, Kind::task)) continue;
      if (!each.group.empty()) groups.insert(each.group);
      if (!lies_in(each.id, Kind::exchange)) steps[step_of(each.id)].buckets.push_back(each.elements);
    }
    if (steps.empty())
      throw Error(ExitCode::usage,
                  fmt::format("{}: none of its {} is of a gradient or an exchange of gradients", recording_.file,
                              counted(std::ssize(nodes_), "node")),
                  "observe whole steps, backward pass included");
    std::map<Sizes, int> alike;
    for (const auto& [step, sizes] : steps) ++alike[sizes];
    // Of two that are as frequent, the one with more in it: a step at the edge of a recording is cut off.
    const Sizes usual = std::ranges::max_element(alike, {}, [](const auto& each) {
                          return std::tuple(each.second, each.first.gradients.size(), each.first.buckets.size());
                        })->first;
    recording_.gradient_elements = usual.gradients;
    // What the exchanges of two groups carry does not say which of them are of gradients.
    if (groups.size() < 2) recording_.bucket_elements = usual.buckets;
    note(static_cast<int>(steps.size()), groups.size());
    read_world(groups.size() == 1 ? *groups.begin() : std::string());
  }

  void note(int steps, std::size_t groups) {
    const std::vector<std::int64_t>& gradients = recording_.gradient_elements;
    recording_.holds =
        fmt::format("{} of {} elements and {} of one step of {}", counted(std::ssize(gradients), "gradient"),
                    std::accumulate(gradients.begin(), gradients.end(), std::int64_t{0}),
                    counted(std::ssize(recording_.bucket_elements), "bucket"), steps);
    if (groups > 1)
      recording_.unknown.push_back(
          fmt::format("{} groups of ranks exchange something in the backward pass of {}: which of it are gradients is "
                      "not known, and its buckets are left out.",
                      groups, recording_.file));
  }

  void read_world(const std::string& group) {
    if (groups_.is_array())
      for (const Json& each : groups_) {
        if (!each.is_object() || (json_text(each, "pg_desc") != "default_pg" && groups_.size() > 1)) continue;
        const double ranks = json_number(each, "group_size");
        if (ranks >= 1 && ranks < 1e7) recording_.world = static_cast<int>(ranks);
        recording_.backend = backend_of(json_text(each, "backend_config"));
      }
    const auto found = ranks_.find(group);
    if (found == ranks_.end()) return;
    if (recording_.world == 0) recording_.world = found->second.first;
    if (recording_.world == found->second.first) recording_.rank = found->second.second;
  }

  /// Of `cpu:gloo,cuda:nccl`: that of the gradients' device.
  std::string backend_of(const std::string& config) const {
    const std::size_t found = device_.empty() ? config.npos : config.find(device_ + ":");
    if (found == config.npos) return {};
    const std::size_t begin = found + device_.size() + 1;
    return config.substr(begin, config.find(',', begin) - begin);
  }

  Recording recording_;
  std::unordered_map<std::int64_t, Place> nodes_;
  std::vector<std::pair<std::int64_t, std::int64_t>> gradients_;  ///< number of the node, elements
  std::vector<Exchange> exchanges_;
  std::map<std::string, std::pair<int, int>> ranks_;  ///< by group: ranks of it, this rank in it
  Json groups_;
  std::string device_;  ///< `cuda`, of the gradients
};

bool recognises(std::string_view head) {
  return first_mark(head) == '{' && head.find("\"nodes\"") != head.npos && head.find("\"schema\"") != head.npos &&
         head.find("\"rf_id\"") != head.npos;
}

std::vector<Recording> read(const std::string& file_name) { return {Reader(file_name).run()}; }

}  // namespace

extern const JobFormat kExecutionTraceFormat;
constinit const JobFormat kExecutionTraceFormat{
    .name = "execution-trace",
    .summary = "sizes of a PyTorch execution trace, beside a kineto trace",
    .example = "torch.profiler.ExecutionTraceObserver().register_callback(\"et.json\")",
    .recognises = recognises,
    .read = read};

}  // namespace hbench
