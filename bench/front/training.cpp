#include "workloads/training.hpp"

#include "bench/front/worker_program.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {

Availability torch_availability() { return worker_availability(); }

Availability training_availability() { return worker_start(); }

Availability gpu_training_availability() {
  if (Availability gpus = cuda_availability(); !gpus.available) return gpus;
  return worker_facts().gpu_training;
}

std::map<std::string, std::string> torch_facts() { return worker_facts().torch; }

StepTimeline record_timeline(const RecordingRequest&) {
  throw Error(ExitCode::internal, "timelines are recorded by hbench-worker, not by hbench");
}

}  // namespace hbench
