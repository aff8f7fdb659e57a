#include "analysis/points/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace hbench {
namespace {

/// One for each group, shared by its residuals.
std::vector<double> weights_of(const std::vector<Residual>& residuals, ResidualGroup group) {
  std::map<std::string, double> counts;
  for (const Residual& each : residuals) ++counts[each.*group];
  std::vector<double> weights;
  for (const Residual& each : residuals) weights.push_back(1 / counts[each.*group]);
  return weights;
}

/// The share of known groups that a band must hold to hold `kBandLevel` of the next: that one is as likely to be at any
/// place among them, also beyond the last (the finite-sample correction of split conformal prediction, Lei, G'Sell,
/// Rinaldo, Tibshirani and Wasserman, J. Am. Stat. Assoc. 113, 2018, section 2.1).
double share_of_known(const std::vector<Residual>& residuals, ResidualGroup group) {
  std::map<std::string, int> groups;
  for (const Residual& each : residuals) ++groups[each.*group];
  return std::min(1.0, kBandLevel * (1 + 1.0 / static_cast<double>(groups.size())));
}

}  // namespace

double scale_needed(const Residual& residual) {
  const BandFactors band = band_of(residual.unknowns);
  const double width = residual.off > 0 ? std::log(band.high) : -std::log(band.low);
  return std::fabs(residual.off) / width;
}

bool holds(const Residual& residual, double scale) { return scale_needed(residual) <= scale; }

double quantile_over(const std::vector<Residual>& residuals, ResidualGroup group, const std::vector<double>& values,
                     double share) {
  const std::vector<double> weights = weights_of(residuals, group);
  std::vector<std::pair<double, double>> weighted;
  double total = 0, below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    weighted.emplace_back(values[i], weights[i]);
    total += weights[i];
  }
  std::ranges::sort(weighted);
  for (const auto& [value, weight] : weighted)
    if ((below += weight) >= share * total * (1 - 1e-12)) return value;
  return 0;
}

double interval_score(double low, double high, double real) {
  const double below = std::max(0.0, std::log(low / real)), above = std::max(0.0, std::log(real / high));
  return std::log(high / low) + 2 / (1 - kBandLevel) * (below + above);
}

double fit_scale(const std::vector<Residual>& residuals, ResidualGroup group) {
  std::vector<double> scales;
  for (const Residual& each : residuals) scales.push_back(scale_needed(each));
  return quantile_over(residuals, group, scales, share_of_known(residuals, group));
}

std::vector<bool> held_elsewhere(const std::vector<Residual>& residuals, ResidualGroup group) {
  std::map<std::string, double> elsewhere;
  for (const Residual& each : residuals) {
    if (elsewhere.contains(each.*group)) continue;
    std::vector<Residual> others = residuals;
    std::erase_if(others, [&](const Residual& other) { return other.*group == each.*group; });
    elsewhere[each.*group] = fit_scale(others, group);
  }
  std::vector<bool> held;
  for (const Residual& each : residuals) held.push_back(holds(each, elsewhere[each.*group]));
  return held;
}

double mean_over(const std::vector<Residual>& residuals, ResidualGroup group, const std::vector<double>& values) {
  const std::vector<double> weights = weights_of(residuals, group);
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    sum += weights[i] * values[i];
    total += weights[i];
  }
  return sum / total;
}

}  // namespace hbench
