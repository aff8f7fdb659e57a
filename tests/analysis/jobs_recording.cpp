#include "tests/analysis/jobs_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/job/job_format.hpp"

namespace hbench {
namespace {

std::string event(const std::string& category, const std::string& name, double begin, double end, int thread,
                  const std::string& arguments) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 7, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, )"
                     R"("args": {{{}}}}},)",
                     category, name, thread, 4e9 + begin * 1e3, (end - begin) * 1e3, arguments);
}

}  // namespace

TraceText& TraceText::host(const std::string& name, double begin, double end, int thread,
                           const std::string& arguments) {
  return raw(event("cpu_op", name, begin, end, thread, arguments));
}

TraceText& TraceText::mark(const std::string& name, double begin, double end, int thread,
                           const std::string& arguments) {
  return raw(event("user_annotation", name, begin, end, thread, arguments));
}

TraceText& TraceText::kernel(const std::string& name, double launched, int thread, double begin, double end,
                             const std::string& arguments) {
  const std::string correlation = fmt::format("\"correlation\": {}", ++correlation_);
  raw(event("cuda_runtime", "cudaLaunchKernel", launched, launched + 0.01, thread, correlation));
  return raw(event("kernel", name, begin, end, 40,
                   arguments.empty() ? correlation : fmt::format("{}, {}", correlation, arguments)));
}

TraceText& TraceText::earlier_kernel(const std::string& name, double begin, double end) {
  return raw(event("kernel", name, begin, end, 40, fmt::format("\"correlation\": {}", ++correlation_)));
}

TraceText& TraceText::gradient(double begin, double end, int elements) {
  host("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", begin, end, 2);
  return host("torch::autograd::AccumulateGrad", begin, end, 2,
              elements > 0 ? fmt::format(R"("Input Dims": [[{}]], "Input type": ["float"])", elements) : "");
}

TraceText& TraceText::raw(const std::string& event) {
  events_ += event + "\n";
  return *this;
}

std::string TraceText::text(int rank, int world, const std::string& backend) const {
  std::string head = R"("schemaVersion": 1, )";
  if (world > 0)
    head +=
        fmt::format(R"("distributedInfo": {{"backend": "{}", "rank": {}, "world_size": {}}}, )", backend, rank, world);
  if (backend == "nccl")
    head += R"("deviceProperties": [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 42297524224}], )";
  // The last comma is the list's, after which an event of another kind stands.
  return fmt::format("{{{}\"traceEvents\": [\n{}{}]}}\n", head, events_,
                     R"({"ph": "M", "name": "process_name", "args": {"name": "python"}})");
}

TraceText gloo_steps(double earlier) {
  TraceText trace;
  for (int step = 0; step < 2; ++step) {
    const double at = 100.0 * step;
    trace.mark(fmt::format("ProfilerStep#{}", step + 3), at, at + 100);
    trace.mark("DistributedDataParallel.forward", at, at + 18);
    trace.host("autograd::engine::evaluate_function: AddmmBackward0", at + 20, at + 29, 2);
    trace.gradient(at + 29 - earlier, at + 30 - earlier, 10).gradient(at + 39 - earlier, at + 40 - earlier, 20);
    trace.host("c10d::allreduce_", at + 40 - earlier, at + 40.5 - earlier, 2, R"("Input Dims": [[[30]], []])");
    trace.mark("gloo:all_reduce", at + 41 - earlier, at + 51, 3, R"("Input Dims": [[30]], "Input type": ["float"])");
    trace.gradient(at + 59 - earlier, at + 60 - earlier, 30);
    trace.host("c10d::allreduce_", at + 60 - earlier, at + 60 - earlier, 2, R"("Input Dims": [[[30]], []])");
    trace.mark("gloo:all_reduce", at + 60 - earlier, at + 70, 3, R"("Input Dims": [[30]], "Input type": ["float"])");
    trace.mark("Optimizer.step#SGD.step", at + 71, at + 99);
  }
  return trace;
}

std::string file_of(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  write_bytes(folder / name, text);
  return (folder / name).string();
}

TrainingJob job_of(const std::vector<std::string>& files, const JobRequest& request) {
  std::vector<Recording> recordings;
  for (const std::string& file : files) std::ranges::move(read_recordings(file, {}), std::back_inserter(recordings));
  return make_job(std::move(recordings), request);
}

}  // namespace hbench
