// A driver's library that answers as scripted: two H100 that NVLinks join, in the state that FAKE_NVML names when it is
// initialised. Prototypes are NVML's; what a test leaves out, answers "not supported".

#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "collectives/cuda/nvml.hpp"

namespace {

using namespace hbench::nvml;

constexpr Result kInvalidArgument = 2, kNotSupported = 3, kDriverNotLoaded = 9;
constexpr unsigned kGpus = 2;
constexpr const char* kAddresses[] = {"00000000:1B:00.0", "00000000:43:00.0"};

/// What differs between the scenarios.
struct Scenario {
  unsigned long long reasons = 1;  // idle
  unsigned clock = 345, temperature = 31;
  unsigned generation = 1;  // an idle link saves power
  bool mig = false, persistent = true, other_process = false, silent = false;
  unsigned long long errors = 0;
};
Scenario now;
bool initialised = false;

std::string scenario_name() {
  const char* const name = std::getenv("FAKE_NVML");
  return name != nullptr ? name : "";
}

unsigned index_of(Handle gpu) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(gpu)) - 1; }
Handle handle_of(unsigned index) { return reinterpret_cast<Handle>(std::uintptr_t{index} + 1); }

template <class T>
Result give(T* where, T value) {
  if (!initialised) return 1;
  *where = value;
  return kSuccess;
}

Result give_text(char* where, unsigned length, const std::string& text) {
  if (text.size() + 1 > length) return kInsufficientSize;
  std::memcpy(where, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

extern "C" {

Result nvmlInit_v2() {
  const std::string name = scenario_name();
  now = {};
  if (name == "dead") return kDriverNotLoaded;
  if (name == "busy") now = {.reasons = 0, .clock = 1980, .temperature = 62, .generation = 5};
  if (name == "hot") now = {.reasons = 0x8 | 0x40, .clock = 990, .temperature = 92, .generation = 5};
  if (name == "capped") now = {.reasons = 0x4, .clock = 1650, .temperature = 70, .generation = 5};
  if (name == "narrow") now = {.reasons = 0, .clock = 1980, .generation = 3};
  if (name == "shared") now = {.mig = true, .persistent = false, .other_process = true, .errors = 3};
  if (name == "silent") now.silent = true;
  initialised = true;
  return kSuccess;
}
Result nvmlShutdown() { return initialised = false, kSuccess; }
const char* nvmlErrorString(Result result) { return result == kDriverNotLoaded ? "Driver Not Loaded" : "Unknown"; }
Result nvmlSystemGetDriverVersion(char* text, unsigned length) { return give_text(text, length, "580.65.06"); }
Result nvmlSystemGetCudaDriverVersion_v2(int* version) { return give(version, 13000); }
Result nvmlDeviceGetCount_v2(unsigned* count) { return give(count, scenario_name() == "none" ? 0 : kGpus); }
Result nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* gpu) {
  return index < kGpus ? give(gpu, handle_of(index)) : kInvalidArgument;
}
Result nvmlDeviceGetHandleByPciBusId_v2(const char* address, Handle* gpu) {
  for (unsigned index = 0; index < kGpus; ++index)
    if (strcasecmp(kAddresses[index] + 4, address) == 0) return give(gpu, handle_of(index));
  return 6;  // not found
}
Result nvmlDeviceGetName(Handle, char* text, unsigned length) {
  return give_text(text, length, "NVIDIA H100 80GB HBM3");
}
Result nvmlDeviceGetUUID(Handle gpu, char* text, unsigned length) {
  return give_text(text, length, "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(index_of(gpu)));
}
Result nvmlDeviceGetPciInfo_v3(Handle gpu, PciInfo* info) {
  std::snprintf(info->address, sizeof info->address, "%s", kAddresses[index_of(gpu)]);
  return kSuccess;
}
Result nvmlDeviceGetCudaComputeCapability(Handle, int* major, int* minor) {
  *major = 9, *minor = 0;
  return kSuccess;
}
Result nvmlDeviceGetMemoryInfo(Handle, Memory* memory) {
  return give(memory, Memory{80ULL << 30, 79ULL << 30, 1ULL << 30});
}
Result nvmlDeviceGetClockInfo(Handle, unsigned type, unsigned* clock) {
  if (now.silent) return kNotSupported;
  return give(clock, type == kSmClock ? now.clock : 2619);
}
Result nvmlDeviceGetMaxClockInfo(Handle, unsigned type, unsigned* clock) {
  return give(clock, type == kSmClock ? 1980U : 2619U);
}
Result nvmlDeviceGetPowerUsage(Handle, unsigned* power) { return now.silent ? kNotSupported : give(power, 123'456U); }
Result nvmlDeviceGetEnforcedPowerLimit(Handle, unsigned* limit) { return give(limit, 700'000U); }
Result nvmlDeviceGetTemperature(Handle, unsigned, unsigned* degrees) {
  return now.silent ? kNotSupported : give(degrees, now.temperature);
}
Result nvmlDeviceGetCurrentClocksEventReasons(Handle, unsigned long long* reasons) {
  return now.silent ? kNotSupported : give(reasons, now.reasons);
}
Result nvmlDeviceGetTotalEccErrors(Handle gpu, unsigned type, unsigned counter, unsigned long long* count) {
  if (type != kUncorrected || counter != kSinceDriverLoaded) return kInvalidArgument;
  return give(count, index_of(gpu) == 0 ? now.errors : 0);
}
Result nvmlDeviceGetCurrPcieLinkGeneration(Handle, unsigned* generation) { return give(generation, now.generation); }
Result nvmlDeviceGetMaxPcieLinkGeneration(Handle, unsigned* generation) { return give(generation, 5U); }
Result nvmlDeviceGetCurrPcieLinkWidth(Handle, unsigned* width) { return give(width, 16U); }
Result nvmlDeviceGetMaxPcieLinkWidth(Handle, unsigned* width) { return give(width, 16U); }
Result nvmlDeviceGetMigMode(Handle gpu, unsigned* mode, unsigned* later) {
  *later = *mode = now.mig && index_of(gpu) == 0;
  return kSuccess;
}
Result nvmlDeviceGetPersistenceMode(Handle, unsigned* mode) { return give(mode, now.persistent ? 1U : 0U); }
Result nvmlDeviceGetNvLinkState(Handle, unsigned link, unsigned* up) {
  return link < 18 ? give(up, link == 17 ? 0U : 1U) : kInvalidArgument;
}
// Links 0 to 3 lead to the other GPU, 4 to 16 to a switch; 17 is down.
Result nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle gpu, unsigned link, PciInfo* info) {
  std::snprintf(info->address, sizeof info->address, "%s",
                link < 4 ? kAddresses[1 - index_of(gpu)] : "00000000:05:00.0");
  return kSuccess;
}
Result nvmlDeviceGetNvLinkRemoteDeviceType(Handle, unsigned link, unsigned* type) {
  return give(type, link < 4 ? kLinkToGpu : kLinkToSwitch);
}
Result nvmlDeviceGetComputeRunningProcesses_v3(Handle gpu, unsigned* count, Process* processes) {
  const unsigned there = now.other_process && index_of(gpu) == 0 ? 1 : 0;
  if (*count < there) return *count = there, kInsufficientSize;
  if (there > 0) processes[0] = {.pid = 4711, .memory = 2ULL << 30, .gpu_instance = ~0U, .compute_instance = ~0U};
  *count = there;
  return kSuccess;
}

}  // extern "C"
