#include "analysis/records/throttling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

std::string clock_reasons_metric(std::string_view time) {
  constexpr std::string_view kSeconds = "_seconds";
  if (time.ends_with(kSeconds)) time.remove_suffix(kSeconds.size());
  return std::string(time) + "_clock_reasons";
}

Throttling ThrottledShare::worst() const {
  return throttled > 0 ? Throttling::throttled : power_capped > 0 ? Throttling::power_cap : Throttling::none;
}

ThrottledShare throttled_share(const CaseResult& result, std::string_view time) {
  const std::string metric = clock_reasons_metric(time);
  ThrottledShare share;
  std::map<std::pair<int, int>, Throttling> worst;
  for (const Sample& sample : result.samples) {
    if (sample.warmup || sample.metric != metric) continue;
    const auto reasons = static_cast<std::uint64_t>(sample.value);
    Throttling& iteration = worst[{sample.launch, sample.iteration}];
    iteration = std::max(iteration, throttling_of(reasons));
    share.reasons |= reasons;
  }
  share.iterations = worst.size();
  for (const auto& [iteration, throttling] : worst) {
    share.throttled += throttling == Throttling::throttled;
    share.power_capped += throttling == Throttling::power_cap;
  }
  return share;
}

}  // namespace hbench
