#include "collectives/cuda/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <initializer_list>

namespace hbench::nvml {
namespace {

/// The first of the names that the library has: newer drivers rename, older ones lack.
template <class Function>
void find(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* const symbol = dlsym(library, name)) {
      function = reinterpret_cast<Function>(symbol);
      return;
    }
}

}  // namespace

Library::Library(void* handle) : handle_(handle) {
  Functions& f = functions_;
  find(handle, f.initialise, {"nvmlInit_v2", "nvmlInit"});
  find(handle, f.shut_down, {"nvmlShutdown"});
  find(handle, f.error_string, {"nvmlErrorString"});
  find(handle, f.driver_version, {"nvmlSystemGetDriverVersion"});
  find(handle, f.cuda_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  find(handle, f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(handle, f.handle_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(handle, f.handle_by_address, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"});
  find(handle, f.name, {"nvmlDeviceGetName"});
  find(handle, f.uuid, {"nvmlDeviceGetUUID"});
  find(handle, f.pci_info, {"nvmlDeviceGetPciInfo_v3"});
  find(handle, f.compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  find(handle, f.memory, {"nvmlDeviceGetMemoryInfo"});
  find(handle, f.clock, {"nvmlDeviceGetClockInfo"});
  find(handle, f.most_clock, {"nvmlDeviceGetMaxClockInfo"});
  find(handle, f.power, {"nvmlDeviceGetPowerUsage"});
  find(handle, f.power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find(handle, f.temperature, {"nvmlDeviceGetTemperature"});
  // Renamed in drivers of CUDA 12.
  find(handle, f.clock_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(handle, f.ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  find(handle, f.pcie_generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find(handle, f.pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find(handle, f.most_pcie_generation, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find(handle, f.most_pcie_width, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find(handle, f.mig, {"nvmlDeviceGetMigMode"});
  find(handle, f.persistence, {"nvmlDeviceGetPersistenceMode"});
  find(handle, f.link_state, {"nvmlDeviceGetNvLinkState"});
  find(handle, f.link_end, {"nvmlDeviceGetNvLinkRemotePciInfo_v2"});
  find(handle, f.link_end_type, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  find(handle, f.processes, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(handle, f.processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
}

Library::~Library() {
  if (initialised_ && functions_.shut_down != nullptr) functions_.shut_down();
  dlclose(handle_);
}

std::string Library::words(Result result) const {
  const char* const words = functions_.error_string != nullptr ? functions_.error_string(result) : nullptr;
  return words != nullptr ? words : fmt::format("error {}", result);
}

std::shared_ptr<const Library> Library::open(const std::string& path, std::string& failure, bool& installed) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  installed = handle != nullptr;
  if (!installed) {
    failure = "there is no NVIDIA driver on this machine";
    return nullptr;
  }
  const std::shared_ptr<Library> library(new Library(handle));
  if (library->functions_.initialise == nullptr) {
    failure = fmt::format("{} is not NVIDIA's library", path);
    return nullptr;
  }
  if (const Result result = library->functions_.initialise(); result != kSuccess) {
    failure = fmt::format("the NVIDIA driver does not answer: {}", library->words(result));
    return nullptr;
  }
  library->initialised_ = true;
  return library;
}

}  // namespace hbench::nvml
