#include "analysis/points/lead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/points/model_error.hpp"
#include "analysis/statistics/interval.hpp"

namespace hbench {
namespace {

/// On logarithms, of a pair of which nothing is known but two figures.
constexpr double kUnknownScatter = 0.1;

double samples_of(const Point& point) { return point.throughput * point.step_seconds; }

double stated_ratio(const Point& first, const Point& second) {
  if (first.throughput > 0 && second.throughput > 0) return first.throughput / second.throughput;
  return first.efficiency.value_or(0) / second.efficiency.value_or(0);
}

Lead simulated_lead(const Point& first, const Point& second) {
  const StepEnds &a = first.ends, &b = second.ends;
  if (!(a.stated > 0) || !(b.stated > 0)) return lead_within({stated_ratio(first, second)}, kModelError.half_width(1));
  Lead lead = lead_of(a, b);
  if (first.asked.profile != second.asked.profile)
    lead = lead_within({b.stated / a.stated, b.better / a.worse, b.worse / a.better},
                       kModelError.half_width(std::max(a.communication, b.communication)));
  const double work = samples_of(first) / samples_of(second);
  return work > 0 ? Lead{lead.ratio * work, lead.low * work, lead.high * work} : lead;
}

/// Launches that have one launch of the baseline between them are neighbours.
std::vector<PairedLaunch> neighbours(const Point& first, const Point& second) {
  std::vector<PairedLaunch> pairs;
  for (const TimedLaunch& own : first.timed)
    for (const TimedLaunch& other : second.timed)
      if (own.baseline > 0 && own.baseline == other.baseline) {
        pairs.push_back({.baseline = {other.step}, .own = {own.step}});
        break;
      }
  return pairs;
}

Launches launches_of(const Point& point) {
  Launches launches;
  for (const TimedLaunch& launch : point.timed) launches.push_back({launch.step});
  return launches;
}

RatioEstimate timed_ratio(const Point& first, const Point& second) {
  if (first.timed.empty() || second.timed.empty()) return {};
  if (const std::vector<PairedLaunch> pairs = neighbours(first, second); pairs.size() > 1) return paired_ratio(pairs);
  return unpaired_ratio(launches_of(second), launches_of(first));
}

}  // namespace

std::string Lead::in_words() const {
  constexpr double kReadsAsOne = 0.095, kWhole = 9.95;
  const bool near =
      std::ranges::any_of(std::array{ratio, low, high}, [](double value) { return std::abs(value - 1) < kReadsAsOne; });
  const int digits = near ? 2 : ratio < kWhole ? 1 : 0;
  return fmt::format("{:.{}f} ({:.{}f} to {:.{}f})", ratio, digits, low, digits, high, digits);
}

Lead lead_within(std::initializer_list<double> ratios, double error) {
  const double wider = std::exp(error);
  return {*ratios.begin(), std::min(ratios) / wider, std::max(ratios) * wider};
}

Lead lead_of(const StepEnds& first, const StepEnds& second) {
  return lead_within({second.stated / first.stated, second.better / first.better, second.worse / first.worse},
                     kModelError.half_width(std::max(first.communication, second.communication)));
}

Lead lead_of(const Point& first, const Point& second) {
  if (first.asked.evidence == Evidence::simulated && second.asked.evidence == Evidence::simulated)
    return simulated_lead(first, second);
  const RatioEstimate timed = timed_ratio(first, second);
  if (!timed.interval) return lead_within({stated_ratio(first, second)}, kUnknownScatter);
  const double work = samples_of(first) / samples_of(second);
  return {timed.ratio * work, timed.interval->low * work, timed.interval->high * work};
}

}  // namespace hbench
