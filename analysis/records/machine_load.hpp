#pragma once

/// How busy the machine was while a launch of a measured case ran. Pure.
///
/// The parent stores these samples with each launch, `rank` and `iteration` 0 where nothing else is said. CPU times are
/// averages over the launch, in cores, of the cores that this process may use; a fact that the machine does not tell
/// has no sample.

#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

namespace metric {
inline constexpr std::string_view kLaunchBegan = "launch_began";  ///< s since 1970-01-01 UTC
inline constexpr std::string_view kLaunchLost = "launch_lost";    ///< the exit code of a launch that failed
/// The load average of one minute before the launch (`iteration` 0) and after it (1). It still holds our own ranks of
/// the minute before.
inline constexpr std::string_view kLoadAverage = "load_average";
inline constexpr std::string_view kCores = "machine_cores";       ///< that this process may use
inline constexpr std::string_view kOwnCores = "own_cores";        ///< used by the launch itself
inline constexpr std::string_view kOtherCores = "other_cores";    ///< used by all other processes
inline constexpr std::string_view kStolenCores = "stolen_cores";  ///< taken by the hypervisor for other guests
/// Steps of the baseline launch that ran next to this one, in seconds, one sample per iteration.
inline constexpr std::string_view kPairedBaseline = "paired_baseline_seconds";
/// The seconds by which a test made each step or iteration of `rank` slower on purpose (HBENCH_TEST_DELAY).
inline constexpr std::string_view kTestDelay = "test_delay_seconds";
}  // namespace metric

/// One launch's facts; 0 where they are not known.
struct MachineLoad {
  int launch = 0;
  double cores = 0, own = 0, others = 0, stolen = 0;

  /// Whether others had CPU time that this launch would have had: they used more than a twentieth of the cores while
  /// none was free, or the hypervisor took as much.
  bool disturbed() const;
};
/// In the order of their launches.
std::vector<MachineLoad> machine_loads(const CaseResult& result);

}  // namespace hbench
