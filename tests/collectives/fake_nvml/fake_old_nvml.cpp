// The library of a driver before CUDA 11: one V100, older names, and much that it does not have.

#include <cstring>

#include "collectives/cuda/nvml.hpp"

using namespace hbench::nvml;

extern "C" {

Result nvmlInit() { return kSuccess; }
Result nvmlDeviceGetCount(unsigned* count) { return *count = 1, kSuccess; }
Result nvmlDeviceGetHandleByIndex(unsigned, Handle* gpu) { return *gpu = reinterpret_cast<Handle>(1), kSuccess; }
Result nvmlDeviceGetName(Handle, char* text, unsigned) { return std::strcpy(text, "Tesla V100-SXM2-16GB"), kSuccess; }
Result nvmlDeviceGetCurrentClocksThrottleReasons(Handle, unsigned long long* reasons) {
  return *reasons = 0x8, kSuccess;
}
Result nvmlDeviceGetComputeRunningProcesses(Handle, unsigned* count, ProcessV1* processes) {
  processes[0] = {.pid = 17, .memory = 5};
  processes[1] = {.pid = 18, .memory = kNotAvailable};
  return *count = 2, kSuccess;
}

}  // extern "C"
