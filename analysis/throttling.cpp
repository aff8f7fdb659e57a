#include "analysis/throttling.hpp"

#include <fmt/format.h>

namespace hbench {
namespace {

using namespace clock_reason;

/// What was set so, or is so because nothing runs. A group's slowest GPU has a reason of its own.
constexpr std::uint64_t kHarmless = kIdle | kApplicationClocks | kSyncBoost | kDisplayClocks;

struct Words {
  std::uint64_t bit;
  const char* words;
};
constexpr Words kWords[] = {
    {kHardwareSlowdown, "hardware slowdown"},
    {kHardwareThermal, "too hot (hardware)"},
    {kThermal, "too hot"},
    {kPowerBrake, "power brake"},
    {kPowerCap, "power cap"},
};

}  // namespace

Throttling throttling_of(std::uint64_t reasons) {
  const std::uint64_t harmful = reasons & ~kHarmless;
  if (harmful == 0) return Throttling::none;
  return harmful == kPowerCap ? Throttling::power_cap : Throttling::throttled;
}

std::string throttling_text(std::uint64_t reasons) {
  std::uint64_t left = reasons & ~kHarmless;
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (const Words& each : kWords) {
    if ((left & each.bit) != 0) add(each.words);
    left &= ~each.bit;
  }
  if (left != 0) add(fmt::format("unknown reason {:#x}", left));
  return text;
}

}  // namespace hbench
