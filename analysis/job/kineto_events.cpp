#include "analysis/job/kineto_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/job/json_elements.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

/// In the names of the host's events: libraries that run a collective in a thread of their own, and those whose kernels
/// the calling thread launches. Before torch 1.10 these marks are all that the host has of a collective.
constexpr std::string_view kLibraries[] = {"gloo:", "mpi:", "ucc:"};
constexpr std::string_view kDeviceLibraries[] = {"nccl:", "rccl:", "xccl:"};
/// In the names of kernels of collectives, those of AMD's, Microsoft's and Intel's libraries after NVIDIA's.
constexpr std::string_view kKernels[] = {"nccl", "rccl", "msccl", "oneccl"};

/// An element of a list in `arguments`; null where there is none.
const Json* listed(const Json& arguments, const char* list, std::size_t place) {
  const Json* values = json_member(arguments, list);
  return values == nullptr || !values->is_array() || values->size() <= place ? nullptr : &(*values)[place];
}

/// The type of an operator's argument that is a tensor; empty for others, and where types were not recorded.
std::string input_type(const Json& arguments, std::size_t place) {
  const Json* type = listed(arguments, "Input type", place);
  return type != nullptr && type->is_string() ? type_word(type->get<std::string>()) : std::string();
}

/// The elements of an operator's argument, a tensor or a list of tensors; 0 where they are not known. A shape without
/// sizes is one number where the argument is a tensor, and else stands for whatever else it is.
std::int64_t input_elements(const Json& arguments, std::size_t place) {
  const Json* shape = listed(arguments, "Input Dims", place);
  if (shape == nullptr || !shape->is_array()) return 0;
  if (shape->empty()) return input_type(arguments, place).empty() ? 0 : 1;
  if (!shape->front().is_array()) return known_elements(elements_of_shape(*shape));
  double sum = 0;
  for (const Json& each : *shape) sum += elements_of_shape(each);
  return known_elements(sum);
}

/// Which argument of PyTorch's operator of a collective is what a rank puts in: where that and the result differ, the
/// result comes first.
std::size_t place_of_input(std::string_view name, std::string_view operation) {
  const bool in_place =
      operation == "all-reduce" || operation == "broadcast" || operation == "reduce" || operation == "send-receive";
  return name.starts_with("c10d::") && !in_place ? 1 : 0;
}

/// A number, or a text of one, as PyTorch for Ascend writes times; NaN for others.
double time_of(const Json& event, const char* name) {
  const std::string text = json_text(event, name);
  return text.empty() ? json_number(event, name) : parse_number<double>(text).value_or(NAN);
}

class KinetoReader {
 public:
  explicit KinetoReader(const std::string& file_name) : source_(file_name), file_name_(file_name) {
    events_.facts.file = file_name;
  }

  KinetoEvents run() {
    const JsonVisitor visitor{.list = "traceEvents",
                              .member = [&](const std::string& name, const Json& value) { head(name, value); },
                              .element = [&](std::string_view text) { element(text); }};
    events_.complete = visit_json(source_, visitor);
    if (events_.kernels.empty()) note_no_kernels();
    if (events_.untimed > 0)
      events_.facts.unknown.push_back(
          fmt::format("{} whose times are no numbers {} left out: record once more where a figure is missing.",
                      counted(events_.untimed, "event"), events_.untimed == 1 ? "is" : "are"));
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

  /// The host's times say little of a device that is not in the file; on a processor they are all there is.
  void note_no_kernels() {
    std::string& gpu = events_.facts.gpu;
    if (gpu.empty() && events_.facts.backend.find("nccl") == std::string::npos) return;
    events_.facts.unknown.push_back(fmt::format(
        "No kernel of {} is in the file{}: if the job ran on it, these times are of the host, which runs ahead "
        "of its GPU; record with ProfilerActivity.CUDA.",
        gpu.empty() ? "a GPU" : gpu, exchange_on_device_ ? ", but those of exchanges" : ""));
    gpu.clear();
  }

  /// Most events are flows, names of threads and calls of Python: they are not worth being parsed.
  void element(std::string_view text) {
    if (text.find("\"dur\"") == text.npos || text.find("python_function") != text.npos) return;
    const Json event = parse_element(text, file_name_);
    const double at = time_of(event, "ts"), duration = time_of(event, "dur");
    if (json_text(event, "ph") != "X") return;
    if (!std::isfinite(at) || !std::isfinite(duration) || duration < 0) {
      ++events_.untimed;
      return;
    }
    event_at(event, json_object(event, "args"), {at * 1e-6, (at + duration) * 1e-6, thread_of(event)});
  }

  static std::int64_t thread_of(const Json& event) {
    const double thread = json_number(event, "tid");
    return std::isfinite(thread) && std::abs(thread) < 1e15 ? static_cast<std::int64_t>(thread) : 0;
  }

  void event_at(const Json& event, const Json& arguments, const KinetoEvents::Interval& when) {
    const std::string name = json_text(event, "name");
    const std::string category = lower_case(json_text(event, "cat"));  // before torch 1.12 `Kernel`, `Runtime`
    if (category == "kernel") return on_device(name, arguments, when);
    if (category.ends_with("runtime") || category.ends_with("_driver")) {  // cuda, hip, xpu ..
      events_.graphs = events_.graphs || name.find("GraphLaunch") != name.npos;
      source_.keep(events_.launches, {when.begin, when.thread, correlation_of(arguments)});
      return;
    }
    // The device's copies of data and of the program's marks; and the whole recording as one event.
    if (category.starts_with("gpu_") || category == "trace" || category == "overhead") return;
    if (arguments.contains("Task Type"))
      throw Error(ExitCode::usage,
                  fmt::format("{}: its device is an Ascend NPU, whose events hbench cannot read", file_name_),
                  "record the step with hbench_recorder.py on a device of CPUs or CUDA's");
    on_host(name, arguments, when);
  }

  static std::int64_t correlation_of(const Json& arguments) {
    return known_whole(json_number(arguments, "correlation"));
  }

  void on_device(const std::string& name, const Json& arguments, const KinetoEvents::Interval& when) {
    if (std::ranges::none_of(kKernels, [&](auto word) { return name.find(word) != name.npos; })) {
      source_.keep(events_.kernels, {.begin = when.begin, .end = when.end, .correlation = correlation_of(arguments)});
      return;
    }
    exchange_on_device_ = true;
    KinetoEvents::Exchange run = exchange(name, arguments, when);
    run.correlation = correlation_of(arguments);
    source_.keep(events_.runs, std::move(run));
  }

  void on_host(const std::string& name, const Json& arguments, const KinetoEvents::Interval& when) {
    note_origin(name, when);
    events_.operators = events_.operators || name.starts_with("aten::");
    if (name.starts_with("enumerate(DataLoader)#")) source_.keep(events_.loads, when);
    if (name.starts_with("ProfilerStep#")) source_.keep(events_.steps, {when, name}, name.size());
    if (name.starts_with("Optimizer.step#")) source_.keep(events_.optimizers, {when, name}, name.size());
    if (name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel")) events_.sharded = true;
    if (name.starts_with(kBackwardTask))
      source_.keep(events_.tasks, {when, known_whole(json_number(arguments, "Sequence number"))});
    if (name == kAccumulateGrad) source_.keep(events_.gradients, {when, input_elements(arguments, 0)});
    const auto is_of = [&](const auto& words) {
      return std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); });
    };
    if (name == "record_param_comms" || (name.starts_with("c10d::") && !operation_word(name).empty()) ||
        is_of(kDeviceLibraries))
      source_.keep(events_.calls, exchange(name, arguments, when));
    else if (is_of(kLibraries))
      source_.keep(events_.runs, exchange(name, arguments, when));
  }

  void note_origin(const std::string& name, const KinetoEvents::Interval& when) {
    constexpr std::string_view kOfPyTorch[] = {
        "aten::",        "autograd::",      "torch::", "c10d::", "record_param_comms",
        "ProfilerStep#", "Optimizer.step#", "nccl:",   "gloo:"};
    if (std::ranges::none_of(kOfPyTorch, [&](auto word) { return name.starts_with(word); })) {
      if (events_.another.empty()) events_.another = name.substr(0, name.find_first_of("(<"));
      return;
    }
    events_.first = events_.of_pytorch ? std::min(events_.first, when.begin) : when.begin;
    events_.of_pytorch = true;
  }

  static KinetoEvents::Exchange exchange(const std::string& name, const Json& arguments,
                                         const KinetoEvents::Interval& when) {
    KinetoEvents::Exchange exchange{when};
    const std::string called = json_text(arguments, "Collective name");
    exchange.operation = operation_word(called.empty() ? name : called);
    exchange.type = type_word(json_text(arguments, "dtype"));
    const std::size_t place = place_of_input(name, exchange.operation);
    if (exchange.type.empty()) exchange.type = input_type(arguments, place);
    exchange.group = json_text(arguments, "Process Group Name");
    exchange.group_words = json_text(arguments, "Process Group Description");
    exchange.elements = known_elements(json_number(arguments, "In msg nelems"));
    if (exchange.elements == 0) exchange.elements = input_elements(arguments, place);
    const double ranks = json_number(arguments, "Group size");
    if (ranks >= 1 && ranks < 1e7) exchange.ranks = static_cast<int>(ranks);
    return exchange;
  }

  TextSource source_;
  std::string file_name_;
  KinetoEvents events_;
  bool exchange_on_device_ = false;  ///< a kernel of a collective has been seen
};

}  // namespace

KinetoEvents read_kineto_events(const std::string& file_name) { return KinetoReader(file_name).run(); }

}  // namespace hbench
