#pragma once

/// Whether a GPU was held back while it was measured. Pure.
///
/// A GPU says why its clocks are not higher by a set of bits, NVML's clocks event reasons (NVML API Reference,
/// `nvmlClocksEventReasons`). They are stored as they were seen; what they mean is decided here, and may be decided
/// better later.

#include <cstdint>
#include <string>

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

}  // namespace hbench
