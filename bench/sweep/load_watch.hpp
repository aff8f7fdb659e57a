#pragma once

/// How busy the machine is while a launch runs: what `analysis/records/machine_load.hpp` stores of it.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// CPU time of some cores since the machine started, in clock ticks.
struct CpuTimes {
  double busy = 0;
  double stolen = 0;  ///< by the hypervisor

  friend bool operator==(const CpuTimes&, const CpuTimes&) = default;
};
/// Of these cores, by a text such as /proc/stat has. Nothing where one of them is missing.
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat, const std::vector<int>& cores);

/// Looks at the machine when it is made, and again when `samples` is called: around one launch, whose processes have
/// all been waited for by then.
class LoadWatch {
 public:
  LoadWatch();
  std::vector<Sample> samples(int launch) const;

 private:
  struct Look {
    std::chrono::steady_clock::time_point at;
    std::optional<CpuTimes> cpu;
    double ours = 0;  ///< CPU seconds of this process and of those that it has waited for
    double load_average = -1;
  };
  Look look() const;

  std::vector<int> cores_;
  double began_ = 0;  ///< seconds since 1970
  Look before_;
};

}  // namespace hbench
