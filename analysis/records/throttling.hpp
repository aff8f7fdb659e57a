#pragma once

/// Whether a GPU was held back while it was measured. Pure.
///
/// A GPU says why its clocks are not higher by a set of bits, NVML's clocks event reasons (NVML API Reference,
/// `nvmlClocksEventReasons`). They are stored as they were seen; what they mean is decided here, and may be decided
/// better later.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/records/records.hpp"

namespace hbench {

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

}  // namespace hbench
