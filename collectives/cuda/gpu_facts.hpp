#pragma once

/// What NVIDIA's driver reports of this machine's GPUs, for code that does not include NVML's header. Built with and
/// without CUDA: the driver's library is opened at run time, and where there is none, that is reported. What a driver
/// or a GPU does not report is left out, never guessed. Any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hbench {

/// The driver's library, found as the system finds libraries.
inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// The state of a GPU when it was sampled.
struct GpuState {
  std::optional<double> sm_clock, memory_clock;  ///< Hz
  std::optional<double> power;                   ///< W
  std::optional<double> temperature;             ///< degrees Celsius
  /// Why clocks are not higher: NVML's clocks event reasons, a set of bits; `analysis/records/machine_facts.hpp` judges
  /// them.
  std::optional<std::uint64_t> clock_reasons;
};

struct PcieLink {
  int generation = 0, width = 0;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// NVLinks of a GPU that are up, by what is at their other end.
struct NvLinks {
  enum class End : std::uint8_t { gpu, nvswitch, other };
  End end = End::other;
  int gpu = -1;  ///< its index; -1: one that this process does not see, or no GPU
  int links = 0;
};

/// A process that computes on a GPU. In a container its number is the host's.
struct GpuProcess {
  int pid = 0;
  std::optional<std::int64_t> memory;  ///< bytes; none where the driver does not report it
};

struct GpuFacts {
  int index = 0;        ///< the driver's, as `nvidia-smi` counts; CUDA may count otherwise
  std::string name;     ///< `NVIDIA H100 80GB HBM3`
  std::string uuid;     ///< of this very GPU
  std::string pci;      ///< its address as Linux writes it: `0000:1b:00.0`; empty where it is not reported
  std::string compute;  ///< compute capability: `9.0`
  GpuState now;         ///< as it was when asked
  std::optional<std::int64_t> memory, free_memory;         ///< bytes
  std::optional<double> most_sm_clock, most_memory_clock;  ///< Hz
  std::optional<double> power_limit;                       ///< W
  std::optional<PcieLink> pcie, most_pcie;                 ///< now (an idle GPU saves power), and at most in this slot
  std::optional<std::int64_t> memory_errors;  ///< uncorrected, since the driver was loaded; none without ECC
  std::optional<bool> mig, persistent;        ///< divided into instances; kept awake by the driver
  std::vector<NvLinks> nvlinks;
  std::vector<GpuProcess> processes;
};

/// What the driver sees, which may be more than CUDA lets this process use.
struct DriverFacts {
  std::string failure;     ///< why there is nothing; empty where the driver answered
  bool installed = false;  ///< there is a library of a driver, whether it answers or not
  std::string version;     ///< of the driver: `580.65.06`
  int cuda = 0;            ///< the newest CUDA that it serves: 1000 x major + 10 x minor
  std::vector<GpuFacts> gpus;
};

/// Asks everything once: some 10 ms for each GPU, and a second where the driver sleeps. Never throws.
DriverFacts driver_facts(const std::string& library = kNvmlLibrary);

/// Samples the state of one GPU.
class GpuWatch {
 public:
  virtual ~GpuWatch() = default;
  /// Makes five calls of the driver. Empty where the GPU does not answer. One thread at a time.
  virtual GpuState sample() = 0;
};

/// Of the GPU at a PCI address; null where the driver knows none there.
std::unique_ptr<GpuWatch> watch_gpu(const std::string& pci, const std::string& library = kNvmlLibrary);

}  // namespace hbench
