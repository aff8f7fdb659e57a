#include "collectives/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "collectives/base/text.hpp"
#include "collectives/cuda/gpu_facts.hpp"

namespace hbench {
namespace nvml {
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

namespace {

constexpr double kMega = 1e6, kMilli = 1e-3;
/// Longer than any text that NVML gives (96, `NVML_DEVICE_UUID_V2_BUFFER_SIZE`).
constexpr unsigned kTextBytes = 128;

/// What a function answers; nothing where the driver lacks it, or the GPU does not report it.
template <class Answer, class Function, class... Arguments>
std::optional<Answer> ask(Function function, Handle gpu, Arguments... arguments) {
  Answer answer{};
  if (function == nullptr || function(gpu, arguments..., &answer) != kSuccess) return std::nullopt;
  return answer;
}

std::string text(Result (*function)(Handle, char*, unsigned), Handle gpu) {
  char buffer[kTextBytes] = {};
  return function != nullptr && function(gpu, buffer, kTextBytes) == kSuccess ? buffer : "";
}

std::optional<double> scaled(const std::optional<unsigned>& value, double unit) {
  return value ? std::optional(*value * unit) : std::nullopt;
}

/// `00000000:1B:00.0` as Linux writes it.
std::string linux_address(std::string_view address) {
  const std::string text = lower_case(std::string(address));
  const std::size_t domain = text.find(':');
  return domain == 8 ? text.substr(4) : text;
}

std::string address_of(const std::optional<PciInfo>& info) { return info ? linux_address(info->address) : ""; }

GpuState state(const Functions& f, Handle gpu) {
  GpuState state;
  state.sm_clock = scaled(ask<unsigned>(f.clock, gpu, kSmClock), kMega);
  state.memory_clock = scaled(ask<unsigned>(f.clock, gpu, kMemoryClock), kMega);
  state.power = scaled(ask<unsigned>(f.power, gpu), kMilli);
  state.temperature = scaled(ask<unsigned>(f.temperature, gpu, kGpuSensor), 1);
  state.clock_reasons = ask<unsigned long long>(f.clock_reasons, gpu);
  return state;
}

std::optional<PcieLink> pcie(Result (*generation)(Handle, unsigned*), Result (*width)(Handle, unsigned*), Handle gpu) {
  const auto how_new = ask<unsigned>(generation, gpu), how_wide = ask<unsigned>(width, gpu);
  if (!how_new || !how_wide) return std::nullopt;
  return PcieLink{static_cast<int>(*how_new), static_cast<int>(*how_wide)};
}

std::string compute_capability(const Functions& f, Handle gpu) {
  int major = 0, minor = 0;
  if (f.compute_capability == nullptr || f.compute_capability(gpu, &major, &minor) != kSuccess) return "";
  return fmt::format("{}.{}", major, minor);
}

std::optional<bool> is_divided(const Functions& f, Handle gpu) {
  unsigned now = 0, after_reset = 0;
  if (f.mig == nullptr || f.mig(gpu, &now, &after_reset) != kSuccess) return std::nullopt;
  return now != 0;
}

/// The list grows while it is asked for: with room to spare, and once more where that was too little.
template <class Entry>
std::vector<GpuProcess> processes(Result (*function)(Handle, unsigned*, Entry*), Handle gpu) {
  std::vector<Entry> entries(64);
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto count = static_cast<unsigned>(entries.size());
    const Result result = function(gpu, &count, entries.data());
    if (result == kInsufficientSize) {
      entries.resize(2 * static_cast<std::size_t>(count) + 1);
      continue;
    }
    entries.resize(result == kSuccess ? count : 0);
    std::vector<GpuProcess> found;
    for (const Entry& entry : entries)
      found.push_back({static_cast<int>(entry.pid), entry.memory == kNotAvailable
                                                        ? std::nullopt
                                                        : std::optional(static_cast<std::int64_t>(entry.memory))});
    return found;
  }
  return {};
}

std::vector<GpuProcess> processes_on(const Functions& f, Handle gpu) {
  if (f.processes != nullptr) return processes(f.processes, gpu);
  return f.processes_v1 != nullptr ? processes(f.processes_v1, gpu) : std::vector<GpuProcess>();
}

GpuFacts facts_of(const Functions& f, Handle gpu) {
  GpuFacts facts;
  facts.name = text(f.name, gpu);
  facts.uuid = text(f.uuid, gpu);
  facts.pci = address_of(ask<PciInfo>(f.pci_info, gpu));
  facts.compute = compute_capability(f, gpu);
  facts.now = state(f, gpu);
  if (const auto memory = ask<Memory>(f.memory, gpu)) {
    facts.memory = static_cast<std::int64_t>(memory->total);
    facts.free_memory = static_cast<std::int64_t>(memory->free);
  }
  facts.most_sm_clock = scaled(ask<unsigned>(f.most_clock, gpu, kSmClock), kMega);
  facts.most_memory_clock = scaled(ask<unsigned>(f.most_clock, gpu, kMemoryClock), kMega);
  facts.power_limit = scaled(ask<unsigned>(f.power_limit, gpu), kMilli);
  facts.pcie = pcie(f.pcie_generation, f.pcie_width, gpu);
  facts.most_pcie = pcie(f.most_pcie_generation, f.most_pcie_width, gpu);
  if (const auto errors = ask<unsigned long long>(f.ecc_errors, gpu, kUncorrected, kSinceDriverLoaded))
    facts.memory_errors = static_cast<std::int64_t>(*errors);
  facts.mig = is_divided(f, gpu);
  if (const auto mode = ask<unsigned>(f.persistence, gpu)) facts.persistent = *mode != 0;
  facts.processes = processes_on(f, gpu);
  return facts;
}

NvLinks::End end_of(const Functions& f, Handle gpu, unsigned link, bool known_gpu) {
  const auto type = ask<unsigned>(f.link_end_type, gpu, link);
  if (known_gpu || type == kLinkToGpu) return NvLinks::End::gpu;
  return type == kLinkToSwitch ? NvLinks::End::nvswitch : NvLinks::End::other;
}

/// Links that are up, those with the same end together.
std::vector<NvLinks> links_of(const Functions& f, Handle gpu, const std::vector<GpuFacts>& gpus) {
  std::vector<NvLinks> links;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    const auto up = ask<unsigned>(f.link_state, gpu, link);
    if (up.value_or(0) == 0) continue;
    const std::string address = address_of(ask<PciInfo>(f.link_end, gpu, link));
    const auto peer = address.empty() ? gpus.end() : std::ranges::find(gpus, address, &GpuFacts::pci);
    const NvLinks::End end = end_of(f, gpu, link, peer != gpus.end());
    const int index = peer == gpus.end() ? -1 : peer->index;
    const auto same =
        std::ranges::find_if(links, [&](const NvLinks& each) { return each.end == end && each.gpu == index; });
    if (same == links.end())
      links.push_back({end, index, 1});
    else
      ++same->links;
  }
  return links;
}

class Watch final : public GpuWatch {
 public:
  Watch(std::shared_ptr<const Library> library, Handle gpu) : library_(std::move(library)), gpu_(gpu) {}
  GpuState sample() override { return state(library_->functions(), gpu_); }

 private:
  std::shared_ptr<const Library> library_;
  Handle gpu_;
};

}  // namespace
}  // namespace nvml

DriverFacts driver_facts(const std::string& path) {
  DriverFacts facts;
  const auto library = nvml::Library::open(path, facts.failure, facts.installed);
  if (!library) return facts;
  const nvml::Functions& f = library->functions();
  char version[nvml::kTextBytes] = {};
  if (f.driver_version != nullptr && f.driver_version(version, nvml::kTextBytes) == nvml::kSuccess)
    facts.version = version;
  if (f.cuda_version == nullptr || f.cuda_version(&facts.cuda) != nvml::kSuccess) facts.cuda = 0;
  unsigned count = 0;
  if (f.count == nullptr || f.handle_by_index == nullptr || f.count(&count) != nvml::kSuccess) count = 0;
  std::vector<nvml::Handle> handles;
  for (unsigned index = 0; index < count; ++index) {
    nvml::Handle gpu = nullptr;
    if (f.handle_by_index(index, &gpu) != nvml::kSuccess) continue;  // one that this process may not see
    handles.push_back(gpu);
    facts.gpus.push_back(nvml::facts_of(f, gpu));
    facts.gpus.back().index = static_cast<int>(index);
  }
  for (std::size_t i = 0; i < handles.size(); ++i) facts.gpus[i].nvlinks = nvml::links_of(f, handles[i], facts.gpus);
  return facts;
}

std::unique_ptr<GpuWatch> watch_gpu(const std::string& pci, const std::string& path) {
  std::string failure;
  bool installed = false;
  auto library = nvml::Library::open(path, failure, installed);
  nvml::Handle gpu = nullptr;
  if (!library || library->functions().handle_by_address == nullptr ||
      library->functions().handle_by_address(pci.c_str(), &gpu) != nvml::kSuccess)
    return nullptr;
  return std::make_unique<nvml::Watch>(std::move(library), gpu);
}

}  // namespace hbench
