#pragma once

/// Facts about this machine that results depend on, and what training can be measured with here.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collectives/base/test_delay.hpp"
#include "collectives/cuda/gpu_facts.hpp"

namespace hbench {

/// Facts about this machine that results depend on: an allow-list, never the whole environment. GPUs are asked about
/// where the command may use them: their driver takes its time to answer.
std::map<std::string, std::string> environment_facts(bool uses_gpus);

/// The network that ranks have instead of this machine's, in words: the variable HBENCH_EMULATED, which `bench/links`
/// sets and which everybody who slows links down should. Empty: none. \throws Error (usage) for a text that is no line.
std::string emulated_network();

/// The rank that a test slows down: the variable HBENCH_TEST_DELAY. \throws Error (usage) as `parse_test_delay`.
TestDelay test_delay();

/// Versions of what computes on GPUs, and settings that change what it does; empty where it is not built in or not set.
struct GpuLibraries {
  std::string cuda, nccl, cudnn;                ///< `13.0`, `2.28.3`, `9.10.2`
  std::map<std::string, std::string> settings;  ///< variables that are set, of an allow-list
};

/// Those of this process.
GpuLibraries gpu_libraries();

/// The GPUs at these addresses alone: those that a process sees, of all that the driver does. Pure.
DriverFacts only(DriverFacts driver, const std::vector<std::string>& addresses);

/// Returns the keys `gpu`, `gpu_driver`, `gpu_uuid`, `gpu_clocks`, `gpu_power_limit`, `gpu_modes`, `gpu_settings`,
/// `cuda`, `cuda_driver`, `nccl` and `cudnn`, of which only those are there that are known. A fact in which several
/// GPUs are alike is reported once. Pure.
std::map<std::string, std::string> gpu_environment(const DriverFacts& driver, const GpuLibraries& libraries);

/// What training can be measured with on a machine.
struct TrainingMeans {
  std::string no_training;  ///< why no model can be trained; empty where one can
  int gpus = 0;             ///< that models can be trained on
  std::string no_gpu;       ///< why there are none
  /// Why an executor cannot be used, by its name; those that can are not in it.
  std::map<std::string, std::string, std::less<>> absent;
};

/// Of this machine. Asks the driver where there are GPUs.
TrainingMeans own_training_means();

}  // namespace hbench
