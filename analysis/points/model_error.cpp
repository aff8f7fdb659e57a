#include "analysis/points/model_error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace hbench {
namespace {

/// A value that counts as much as its weight.
struct Weighted {
  double value;
  double weight;
};

/// The smallest value that at least a `share` of the weight does not exceed.
double weighted_quantile(std::vector<Weighted> values, double share) {
  std::ranges::sort(values, {}, &Weighted::value);
  double total = 0, below = 0;
  for (const Weighted& each : values) total += each.weight;
  for (const Weighted& each : values)
    if ((below += each.weight) >= share * total * (1 - 1e-12)) return each.value;
  return values.back().value;
}

/// One for each cluster, shared by its residuals.
std::vector<double> weights_of(const std::vector<Residual>& residuals) {
  std::map<std::string, double> counts;
  for (const Residual& each : residuals) ++counts[each.cluster];
  std::vector<double> weights;
  for (const Residual& each : residuals) weights.push_back(1 / counts[each.cluster]);
  return weights;
}

/// The share of known clusters that a band must hold to hold `kBandLevel` of the next: that one is as likely to be at
/// any place among them, also beyond the last (the finite-sample correction of split conformal prediction, Lei,
/// G'Sell, Rinaldo, Tibshirani and Wasserman, J. Am. Stat. Assoc. 113, 2018, section 2.1).
double share_of_known(const std::vector<Residual>& residuals) {
  std::set<std::string> clusters;
  for (const Residual& each : residuals) clusters.insert(each.cluster);
  return std::min(1.0, kBandLevel * (1 + 1.0 / static_cast<double>(clusters.size())));
}

/// How errors of the network compare with those of compute, from none to only them.
constexpr int kDirections = 90;

}  // namespace

double ModelError::half_width(double share) const { return std::hypot(compute, communication * share); }

double excess(const Residual& residual) {
  return std::max(std::log(residual.seen / residual.high), std::log(residual.low / residual.seen));
}

bool holds(const ModelError& error, const Residual& residual) {
  return excess(residual) <= error.half_width(residual.communication);
}

ModelError fit_model_error(const std::vector<Residual>& residuals) {
  const std::vector<double> weights = weights_of(residuals);
  const double share = share_of_known(residuals);
  ModelError best;
  double narrowest = INFINITY;
  for (int direction = 0; direction < kDirections; ++direction) {
    const double angle = direction * M_PI / 2 / kDirections;
    const ModelError unit{std::cos(angle), std::sin(angle)};
    std::vector<Weighted> scores;
    double width = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      const double half = unit.half_width(residuals[i].communication);
      scores.push_back({excess(residuals[i]) / half, weights[i]});
      width += half * weights[i];
    }
    const double scale = std::max(0.0, weighted_quantile(scores, share));
    if (scale * width >= narrowest * (1 - 1e-12)) continue;  // rounding decides nothing
    narrowest = scale * width;
    best = {scale * unit.compute, scale * unit.communication};
  }
  return best;
}

double coverage_elsewhere(const std::vector<Residual>& residuals) {
  const std::vector<double> weights = weights_of(residuals);
  std::map<std::string, ModelError> elsewhere;
  for (const Residual& each : residuals) {
    if (elsewhere.contains(each.cluster)) continue;
    std::vector<Residual> others = residuals;
    std::erase_if(others, [&](const Residual& other) { return other.cluster == each.cluster; });
    elsewhere[each.cluster] = fit_model_error(others);
  }
  double held = 0, total = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    total += weights[i];
    if (holds(elsewhere[residuals[i].cluster], residuals[i])) held += weights[i];
  }
  return held / total;
}

}  // namespace hbench
