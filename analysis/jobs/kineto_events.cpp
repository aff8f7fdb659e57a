#include "analysis/jobs/kineto_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/jobs/json_elements.hpp"
#include "analysis/jobs/words.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kLibraries[] = {"nccl:", "gloo:", "mpi:", "ucc:", "rccl:", "xccl:"};

/// Returns the elements of one tensor's shape, or of all in a list of shapes; 0 where they are not known.
double elements_of(const Json& shape) {
  if (!shape.is_array() || shape.empty()) return 0;
  if (!shape.front().is_array()) return elements_of_shape(shape);
  double sum = 0;
  for (const Json& each : shape) sum += elements_of(each);
  return sum;
}

std::int64_t first_shape(const Json& arguments) {
  const Json* dims = json_member(arguments, "Input Dims");
  return dims == nullptr || !dims->is_array() || dims->empty() ? 0 : known_elements(elements_of(dims->front()));
}

class Reader {
 public:
  explicit Reader(const std::string& file_name) : file_name_(file_name) { events_.facts.file = file_name; }

  KinetoEvents run() {
    TextSource source(file_name_);
    const JsonVisitor visitor{.list = "traceEvents",
                              .member = [&](const std::string& name, const Json& value) { head(name, value); },
                              .element = [&](std::string_view text) { element(text); }};
    events_.complete = visit_json(source, visitor);
    return std::move(events_);
  }

 private:
  void head(const std::string& name, const Json& value) {
    if (name == "deviceProperties" && value.is_array() && !value.empty() && value.front().is_object()) {
      events_.facts.gpu = json_text(value.front(), "name");
    }
    if (name != "distributedInfo" || !value.is_object()) return;
    events_.facts.backend = json_text(value, "backend");
    const double rank = json_number(value, "rank"), world = json_number(value, "world_size");
    if (rank >= 0 && rank < 1e7) events_.facts.rank = static_cast<int>(rank);
    if (world >= 1 && world < 1e7) events_.facts.world = static_cast<int>(world);
  }

  /// Most events are flows, names of threads and calls of Python: they are not worth being parsed.
  void element(std::string_view text) {
    if (text.find("\"dur\"") == text.npos || text.find("python_function") != text.npos) return;
    const Json event = parse_element(text, file_name_);
    const double at = json_number(event, "ts"), duration = json_number(event, "dur");
    if (json_text(event, "ph") != "X" || !std::isfinite(at) || !(duration >= 0)) return;
    static const Json kNone = Json::object();
    const Json* arguments = json_member(event, "args");
    event_at(event, arguments != nullptr && arguments->is_object() ? *arguments : kNone,
             {at * 1e-6, (at + duration) * 1e-6, thread_of(event)});
  }

  static std::int64_t thread_of(const Json& event) {
    const double thread = json_number(event, "tid");
    return std::isfinite(thread) && std::abs(thread) < 1e15 ? static_cast<std::int64_t>(thread) : 0;
  }

  void event_at(const Json& event, const Json& arguments, const KinetoEvents::Interval& when) {
    const std::string category = json_text(event, "cat"), name = json_text(event, "name");
    if (category == "kernel") return on_device(name, arguments, when);
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime") {
      events_.launches.push_back({when.begin, when.thread, correlation_of(arguments)});
      return;
    }
    // The device's copies of data and of the program's marks; and the whole recording as one event.
    if (category.starts_with("gpu_") || category == "Trace" || category == "overhead") return;
    on_host(name, arguments, when);
  }

  static std::int64_t correlation_of(const Json& arguments) {
    const double correlation = json_number(arguments, "correlation");
    return correlation > 0 && correlation < 1e15 ? static_cast<std::int64_t>(correlation) : 0;
  }

  void on_device(const std::string& name, const Json& arguments, const KinetoEvents::Interval& when) {
    if (name.find("nccl") == std::string::npos) {
      events_.kernels.push_back({when.begin, when.end, correlation_of(arguments)});
      return;
    }
    KinetoEvents::Exchange run = exchange(name, arguments, when);
    run.correlation = correlation_of(arguments);
    events_.runs.push_back(std::move(run));
  }

  void on_host(const std::string& name, const Json& arguments, const KinetoEvents::Interval& when) {
    if (name.starts_with("ProfilerStep#")) events_.steps.push_back({when, name});
    if (name.starts_with("Optimizer.step#")) events_.optimizers.push_back({when, name});
    if (name.starts_with("FSDP::")) events_.sharded = true;
    if (name.starts_with(kBackwardTask)) events_.tasks.push_back(when);
    if (name == kAccumulateGrad) events_.gradients.push_back({when, first_shape(arguments)});
    const bool library = std::ranges::any_of(kLibraries, [&](auto word) { return name.starts_with(word); });
    if (name == "record_param_comms" || (name.starts_with("c10d::") && !operation_word(name).empty()))
      events_.calls.push_back(exchange(name, arguments, when));
    else if (library)
      events_.runs.push_back(exchange(name, arguments, when));
  }

  static KinetoEvents::Exchange exchange(const std::string& name, const Json& arguments,
                                         const KinetoEvents::Interval& when) {
    KinetoEvents::Exchange exchange{when};
    const std::string called = json_text(arguments, "Collective name");
    exchange.operation = operation_word(called.empty() ? name : called);
    exchange.type = type_word(json_text(arguments, "dtype"));
    if (exchange.type.empty()) exchange.type = type_word(json_first_text(json_member(arguments, "Input type")));
    exchange.group = json_text(arguments, "Process Group Name");
    exchange.elements = known_elements(json_number(arguments, "In msg nelems"));
    if (exchange.elements == 0) exchange.elements = first_shape(arguments);
    const double ranks = json_number(arguments, "Group size");
    if (ranks >= 1 && ranks < 1e7) exchange.ranks = static_cast<int>(ranks);
    return exchange;
  }

  std::string file_name_;
  KinetoEvents events_;
};

}  // namespace

KinetoEvents read_kineto_events(const std::string& file_name) { return Reader(file_name).run(); }

}  // namespace hbench
