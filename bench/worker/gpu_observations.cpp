#include "bench/worker/gpu_observations.hpp"

#include <limits>

#include "analysis/records/machine_facts.hpp"
#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double number_of(const std::optional<std::uint64_t>& bits) { return bits ? static_cast<double>(*bits) : kUnknown; }

/// Reasons come and go: what either look saw counts.
double either(const std::optional<std::uint64_t>& before, const std::optional<std::uint64_t>& after) {
  if (!before || !after) return number_of(before ? before : after);
  return static_cast<double>(*before | *after);
}

}  // namespace

void GpuObservations::add(std::string_view time, int iterations, const GpuState& before, const GpuState& after) {
  looks_.push_back(before);
  looks_.push_back(after);
  std::vector<double>& reasons = reasons_[clock_reasons_metric(time)];
  reasons.insert(reasons.end(), static_cast<std::size_t>(iterations),
                 either(before.clock_reasons, after.clock_reasons));
}

std::vector<GpuSeries> GpuObservations::series() const {
  if (looks_.empty()) return {};
  GpuSeries clock{std::string(metric::kSmClock), "Hz", {}}, power{std::string(metric::kPower), "W", {}},
      temperature{std::string(metric::kTemperature), "C", {}},
      reasons{std::string(metric::kClockReasons), kReasonBits, {}};
  for (const GpuState& look : looks_) {
    clock.values.push_back(look.sm_clock.value_or(kUnknown));
    power.values.push_back(look.power.value_or(kUnknown));
    temperature.values.push_back(look.temperature.value_or(kUnknown));
    reasons.values.push_back(number_of(look.clock_reasons));
  }
  std::vector<GpuSeries> all{clock, power, temperature, reasons};
  for (const auto& [metric, values] : reasons_) all.push_back({metric, kReasonBits, values});
  return all;
}

std::unique_ptr<GpuWatch> watch_by_driver(Device& device) {
  const std::string address = pci_address_of(device);
  return address.empty() ? nullptr : watch_gpu(address);
}

}  // namespace hbench
