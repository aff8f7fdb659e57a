#pragma once

/// How busy the machine was while a launch of a measured case ran, whether a GPU was held back, and on which host each
/// rank was. Pure.
///
/// The parent stores the samples of `MachineLoad` with each launch, `rank` and `iteration` 0 where nothing else is
/// said. CPU times are averages over the launch, in cores, of the cores that this process may use; a fact that the
/// machine does not tell has no sample.

#include <cstddef>
#include <cstdint>
#include <string>
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

/// Why a GPU's clocks are not higher: a set of bits, NVML's clocks event reasons (NVML API Reference,
/// `nvmlClocksEventReasons`). They are stored as they were seen; what they mean is decided here, and may be decided
/// better later.
namespace clock_reason {
inline constexpr std::uint64_t kIdle = 0x1;               ///< nothing runs
inline constexpr std::uint64_t kApplicationClocks = 0x2;  ///< somebody set lower clocks
inline constexpr std::uint64_t kPowerCap = 0x4;           ///< at its power limit, by software
inline constexpr std::uint64_t kHardwareSlowdown = 0x8;   ///< at most half the clock: heat, power brake or a fast rise
inline constexpr std::uint64_t kSyncBoost = 0x10;         ///< as slow as another GPU of its group
inline constexpr std::uint64_t kThermal = 0x20;           ///< too hot, by software
inline constexpr std::uint64_t kHardwareThermal = 0x40;   ///< too hot, by hardware
inline constexpr std::uint64_t kPowerBrake = 0x80;        ///< the machine's power supply asks for less
inline constexpr std::uint64_t kDisplayClocks = 0x100;    ///< set for a display
}  // namespace clock_reason

/// What reasons say about a measurement; the later is the worse.
enum class Throttling : std::uint8_t {
  none,
  power_cap,  ///< at its power limit, where large GPUs are by design under load
  throttled,  ///< slower than it is in good health: heat, power supply; or a reason that we do not know
};
Throttling throttling_of(std::uint64_t reasons);

/// Those that hold back, in words: `hardware slowdown, too hot`; empty where none does.
std::string throttling_text(std::uint64_t reasons);

/// What ranks on GPUs store beside their times. Of each look at the GPU, `iteration` being the number of the look in
/// its case: `gpu_sm_clock` (Hz), `gpu_power` (W), `gpu_temperature` (C) and `gpu_clock_reasons`. And for each timed
/// sample one with the same launch, rank and iteration: the reasons that were seen before or after it. Where nobody
/// looked, or the GPU did not tell, there is no such sample.
namespace metric {
inline constexpr std::string_view kSmClock = "gpu_sm_clock";
inline constexpr std::string_view kPower = "gpu_power";
inline constexpr std::string_view kTemperature = "gpu_temperature";
inline constexpr std::string_view kClockReasons = "gpu_clock_reasons";
}  // namespace metric
/// The unit of reasons.
inline constexpr std::string_view kReasonBits = "NVML bits";
/// Of the samples that go with a time: `in_place_seconds` -> `in_place_clock_reasons`.
std::string clock_reasons_metric(std::string_view time);

/// Iterations of a case whose GPUs were looked at; one is throttled when any of its ranks was.
struct ThrottledShare {
  std::size_t iterations = 0;                   ///< 0: nobody looked
  std::size_t throttled = 0, power_capped = 0;  ///< of these, each at its worst
  std::uint64_t reasons = 0;                    ///< all that were seen
  Throttling worst() const;
};
ThrottledShare throttled_share(const CaseResult& result, std::string_view time);

namespace metric {
/// A rank's host in a launch: its number, from 0, among the names of the environment's `hosts`.
inline constexpr std::string_view kRankHost = "rank_host";
}  // namespace metric

/// The environment's fact of a run over several hosts: their names, with `, ` between them.
inline constexpr std::string_view kHostsFact = "hosts";

/// Samples of one launch. \param hosts of the run \param host_of_rank by rank; a name that is not among `hosts` is left
/// out
std::vector<Sample> rank_host_samples(const std::vector<std::string>& hosts,
                                      const std::vector<std::string>& host_of_rank, int launch);

/// Names by rank, of the last launch that says so; empty where none does, as on one machine. \param hosts_fact the
/// value of `kHostsFact`
std::vector<std::string> hosts_of_ranks(const std::vector<Sample>& samples, std::string_view hosts_fact);

/// `reason` with the host of each rank that it names: `rank 3` becomes `rank 3 on n2`. \param host_of_rank by
/// rank; empty where all ranks are on one host, which needs no name. Pure.
std::string with_hosts(const std::string& reason, const std::vector<std::string>& host_of_rank);

}  // namespace hbench
