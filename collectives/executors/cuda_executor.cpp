#include "collectives/executors/cuda_executor.hpp"

#include "collectives/executors/cuda.hpp"
#include "collectives/executors/thread_executor.hpp"

namespace hbench {

extern const ExecutorKind kCudaExecutor;
constinit const ExecutorKind kCudaExecutor{
    .name = "cuda",
    .summary = "every rank is a thread with a stream on a GPU, whose kernels read the memory of the rank that sends",
    .evidence = "measured",
    .limits = "ranks of one process; no compressors; no library's own collectives",
    .availability = cuda_availability,
    .threads = true,
    .on_gpu = true,
    .make = [](const Profile*, Seconds timeout) { return make_thread_executor(timeout, cuda_device_factory()); },
};

DeviceFactory cuda_device_factory() {
  return [gpus = cuda_devices()](Rank rank) { return std::shared_ptr<Device>(make_cuda_device(rank % gpus)); };
}

}  // namespace hbench
