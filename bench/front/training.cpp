#include "workloads/training.hpp"

#include "bench/front/fuller_program.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {

Availability torch_availability() { return fuller_availability(); }

Availability training_availability() { return fuller_start(); }

Availability gpu_training_availability() {
  if (Availability gpus = cuda_availability(); !gpus.available) return gpus;
  return fuller_facts().gpu_training;
}

std::map<std::string, std::string> torch_facts() { return fuller_facts().torch; }

std::uint64_t loss_fingerprint() { throw Error(ExitCode::internal, "losses are computed by hbench-trainer"); }

StepTimeline record_timeline(const RecordingRequest&) {
  throw Error(ExitCode::internal, "timelines are recorded by hbench-trainer");
}

}  // namespace hbench
