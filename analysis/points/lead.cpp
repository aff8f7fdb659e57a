#include "analysis/points/lead.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/points/unknowns.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

/// On logarithms, of a pair of which nothing is known but two figures.
constexpr double kUnknownScatter = 0.1;

double samples_of(const Point& point) { return point.throughput * point.step_seconds; }

double stated_ratio(const Point& first, const Point& second) {
  if (first.throughput > 0 && second.throughput > 0) return first.throughput / second.throughput;
  return first.efficiency.value_or(0) / second.efficiency.value_or(0);
}

/// With what two steps share at `ends` of it, as ratios.
std::vector<Unknown> unknowns_within(const StepEnds& first, const StepEnds& second,
                                     std::initializer_list<double> ends) {
  const double stated = second.stated / first.stated, share = std::max(first.exposed, second.exposed);
  const auto [least, most] = std::minmax(ends);
  std::vector<Unknown> all{
      {.kind = UnknownKind::network,
       .slower = std::max(0.0, std::log(most / stated)),
       .faster = std::max(0.0, std::log(stated / least))},
      {.kind = UnknownKind::source, .slower = kModelError.half_width(share), .faster = kModelError.half_width(share)}};
  if (first.servers != second.servers)
    all.push_back({.kind = UnknownKind::servers, .slower = kServersApart * share, .faster = kServersApart * share});
  if (first.coding != second.coding)
    all.push_back({.kind = UnknownKind::compressor, .slower = second.coding, .faster = first.coding});
  return all;
}

Lead lead_by(double stated, const std::vector<Unknown>& unknowns) {
  const BandFactors band = band_of(unknowns);
  return {stated, stated * band.low, stated * band.high};
}

Lead simulated_lead(const Point& first, const Point& second) {
  const StepEnds &a = first.ends, &b = second.ends;
  if (!(a.stated > 0) || !(b.stated > 0)) return lead_within({stated_ratio(first, second)}, kModelError.half_width(1));
  Lead lead = lead_of(a, b);
  if (first.asked.profile != second.asked.profile)
    lead = lead_by(b.stated / a.stated, unknowns_within(a, b, {b.better / a.worse, b.worse / a.better}));
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

std::string_view to_string(LeadVerdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"level", "likely", "ahead"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

LeadVerdict Lead::verdict() const {
  if (who() != Ahead::level) return LeadVerdict::ahead;
  return ratio * low > 1 || ratio * high < 1 ? LeadVerdict::likely : LeadVerdict::level;
}

std::string Lead::in_words() const {
  constexpr double kReadsAsOne = 0.095, kWhole = 9.95;
  const bool near =
      std::ranges::any_of(std::array{ratio, low, high}, [](double value) { return std::abs(value - 1) < kReadsAsOne; });
  const int digits = near ? 2 : ratio < kWhole ? 1 : 0;
  if (!is_judged()) return fmt::format("{:.{}f} (one launch, no verdict)", ratio, digits);
  return fmt::format("{:.{}f} ({:.{}f} to {:.{}f})", ratio, digits, low, digits, high, digits);
}

Lead lead_within(std::initializer_list<double> ratios, double error) {
  const double wider = std::exp(error);
  return {*ratios.begin(), std::min(ratios) / wider, std::max(ratios) * wider};
}

std::vector<Unknown> unknowns_of(const StepEnds& first, const StepEnds& second) {
  return unknowns_within(first, second, {second.better / first.better, second.worse / first.worse});
}

Lead lead_of(const StepEnds& first, const StepEnds& second) {
  return lead_by(second.stated / first.stated, unknowns_of(first, second));
}

Lead lead_of(const Point& first, const Point& second) {
  if (first.asked.is_predicted() && second.asked.is_predicted()) return simulated_lead(first, second);
  const RatioEstimate timed = timed_ratio(first, second);
  if (first.timed.size() == 1 && second.timed.size() == 1) return {stated_ratio(first, second), 0, INFINITY};
  if (!timed.interval) return lead_within({stated_ratio(first, second)}, kUnknownScatter);
  const double work = samples_of(first) / samples_of(second);
  return {timed.ratio * work, timed.interval->low * work, timed.interval->high * work};
}

}  // namespace hbench
