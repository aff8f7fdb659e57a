// Our words for NVML's binary interface against its own header, where there is one.

#include <gtest/gtest.h>
#include <nvml.h>

#include <cstddef>
#include <type_traits>

#include "collectives/cuda/nvml.hpp"

namespace hbench::nvml_abi_test {
namespace {

/// A pointer, or a number of that size: what a calling convention sees of a parameter.
template <class Ours, class Theirs>
constexpr bool same_parameter = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

template <class... Ours, class... Theirs>
constexpr bool same_call(nvml::Result (*)(Ours...), nvmlReturn_t (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return (same_parameter<Ours, Theirs> && ...);
  return false;
}

TEST(NvmlAbi, FunctionsTakeWhatNvmlsHeaderSays) {
  nvml::Functions f;
  EXPECT_TRUE(same_call(f.initialise, nvmlInit_v2));
  EXPECT_TRUE(same_call(f.shut_down, nvmlShutdown));
  EXPECT_TRUE(same_call(f.driver_version, nvmlSystemGetDriverVersion));
  EXPECT_TRUE(same_call(f.cuda_version, nvmlSystemGetCudaDriverVersion_v2));
  EXPECT_TRUE(same_call(f.count, nvmlDeviceGetCount_v2));
  EXPECT_TRUE(same_call(f.handle_by_index, nvmlDeviceGetHandleByIndex_v2));
  EXPECT_TRUE(same_call(f.handle_by_address, nvmlDeviceGetHandleByPciBusId_v2));
  EXPECT_TRUE(same_call(f.name, nvmlDeviceGetName));
  EXPECT_TRUE(same_call(f.uuid, nvmlDeviceGetUUID));
  EXPECT_TRUE(same_call(f.pci_info, nvmlDeviceGetPciInfo_v3));
  EXPECT_TRUE(same_call(f.compute_capability, nvmlDeviceGetCudaComputeCapability));
  EXPECT_TRUE(same_call(f.memory, nvmlDeviceGetMemoryInfo));
  EXPECT_TRUE(same_call(f.clock, nvmlDeviceGetClockInfo));
  EXPECT_TRUE(same_call(f.most_clock, nvmlDeviceGetMaxClockInfo));
  EXPECT_TRUE(same_call(f.power, nvmlDeviceGetPowerUsage));
  EXPECT_TRUE(same_call(f.power_limit, nvmlDeviceGetEnforcedPowerLimit));
  EXPECT_TRUE(same_call(f.clock_reasons, nvmlDeviceGetCurrentClocksEventReasons));
  EXPECT_TRUE(same_call(f.ecc_errors, nvmlDeviceGetTotalEccErrors));
  EXPECT_TRUE(same_call(f.pcie_generation, nvmlDeviceGetCurrPcieLinkGeneration));
  EXPECT_TRUE(same_call(f.pcie_width, nvmlDeviceGetCurrPcieLinkWidth));
  EXPECT_TRUE(same_call(f.most_pcie_generation, nvmlDeviceGetMaxPcieLinkGeneration));
  EXPECT_TRUE(same_call(f.most_pcie_width, nvmlDeviceGetMaxPcieLinkWidth));
  EXPECT_TRUE(same_call(f.mig, nvmlDeviceGetMigMode));
  EXPECT_TRUE(same_call(f.persistence, nvmlDeviceGetPersistenceMode));
  EXPECT_TRUE(same_call(f.link_state, nvmlDeviceGetNvLinkState));
  EXPECT_TRUE(same_call(f.link_end, nvmlDeviceGetNvLinkRemotePciInfo_v2));
  EXPECT_TRUE(same_call(f.link_end_type, nvmlDeviceGetNvLinkRemoteDeviceType));
  EXPECT_TRUE(same_call(f.processes, nvmlDeviceGetComputeRunningProcesses_v3));
  EXPECT_FALSE(same_call(f.mig, nvmlDeviceGetPersistenceMode)) << "the comparison itself";
}

TEST(NvmlAbi, StructuresLieAsInNvmlsHeader) {
  EXPECT_EQ(sizeof(nvml::Memory), sizeof(nvmlMemory_t));
  EXPECT_EQ(offsetof(nvml::Memory, free), offsetof(nvmlMemory_t, free));
  EXPECT_EQ(sizeof(nvml::PciInfo), sizeof(nvmlPciInfo_t));
  EXPECT_EQ(offsetof(nvml::PciInfo, address), offsetof(nvmlPciInfo_t, busId));
  EXPECT_EQ(sizeof(nvml::Process), sizeof(nvmlProcessInfo_t));
  EXPECT_EQ(offsetof(nvml::Process, memory), offsetof(nvmlProcessInfo_t, usedGpuMemory));
  EXPECT_EQ(sizeof(nvml::ProcessV1), sizeof(nvmlProcessInfo_v1_t));
  EXPECT_EQ(offsetof(nvml::ProcessV1, memory), offsetof(nvmlProcessInfo_v1_t, usedGpuMemory));
}

TEST(NvmlAbi, ConstantsAreThoseOfNvmlsHeader) {
  EXPECT_EQ(nvml::kSuccess, unsigned{NVML_SUCCESS});
  EXPECT_EQ(nvml::kInsufficientSize, unsigned{NVML_ERROR_INSUFFICIENT_SIZE});
  EXPECT_EQ(nvml::kSmClock, unsigned{NVML_CLOCK_SM});
  EXPECT_EQ(nvml::kMemoryClock, unsigned{NVML_CLOCK_MEM});
  EXPECT_EQ(nvml::kGpuSensor, unsigned{NVML_TEMPERATURE_GPU});
  EXPECT_EQ(nvml::kUncorrected, unsigned{NVML_MEMORY_ERROR_TYPE_UNCORRECTED});
  EXPECT_EQ(nvml::kSinceDriverLoaded, unsigned{NVML_VOLATILE_ECC});
  EXPECT_EQ(nvml::kLinkToGpu, unsigned{NVML_NVLINK_DEVICE_TYPE_GPU});
  EXPECT_EQ(nvml::kLinkToSwitch, unsigned{NVML_NVLINK_DEVICE_TYPE_SWITCH});
  EXPECT_GE(nvml::kMostLinks, unsigned{NVML_NVLINK_MAX_LINKS});
}

}  // namespace
}  // namespace hbench::nvml_abi_test
