#include "bench/tune/race.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/statistics/interval.hpp"
#include "analysis/statistics/rank_test.hpp"

namespace hbench {
namespace {

/// Returns the number of candidates that go on, of `settings` candidates with the reference among them.
std::size_t survivors(std::size_t settings) { return std::max((settings + 1) / 2, Race::kFinalists + 1); }

}  // namespace

Race::Race(std::size_t settings, int launches) : settings_(settings), left_(settings), launches_(launches) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
  if (left_.size() <= kFinalists + 1) end_round();
}

int Race::fewest_launches(std::size_t settings) {
  std::size_t launches = 0;
  for (; settings > kFinalists + 1; settings = survivors(settings)) launches += settings;
  return static_cast<int>(launches + settings * static_cast<std::size_t>(kFinalLaunches));
}

int Race::planned() const { return std::max(launches_, fewest_launches(settings_.size())); }

/// Every other round runs backwards: a machine that warms up or slows down treats all alike.
std::size_t Race::at() const { return left_[round_ % 2 == 0 ? place_ : left_.size() - 1 - place_]; }

std::optional<std::size_t> Race::next() const {
  if (left_.empty() || (in_final_ && final_rounds_ == 0)) return std::nullopt;
  return at();
}

void Race::record(double seconds) {
  Setting& setting = settings_[at()];
  (in_final_ ? setting.final : setting.selection).push_back(seconds);
  advance();
}

void Race::fail() {
  settings_[at()].failed = true;
  advance();
}

void Race::advance() {
  ++launched_;
  if (++place_ < left_.size()) return;
  place_ = 0;
  ++round_;
  std::erase_if(left_, [&](std::size_t setting) { return settings_[setting].failed; });
  if (in_final_) {
    --final_rounds_;
    return;
  }
  end_round();
}

void Race::end_round() {
  if (left_.size() > kFinalists + 1) {
    const auto by_median = [&](std::size_t setting) { return median(settings_[setting].selection); };
    // The reference, if it has not failed, keeps its place at the front.
    std::ranges::stable_sort(left_.begin() + (left_.front() == 0 ? 1 : 0), left_.end(), {}, by_median);
    left_.resize(survivors(left_.size()));
  }
  if (left_.size() > kFinalists + 1) return;
  in_final_ = true;
  const int rounds = left_.empty() ? 0 : (launches_ - launched_) / static_cast<int>(left_.size());
  final_rounds_ = std::max(rounds, kFinalLaunches);
}

const std::vector<double>& Race::counting(std::size_t setting) const {
  return settings_[setting].final.empty() ? settings_[setting].selection : settings_[setting].final;
}

std::vector<Standing> Race::standings() const {
  std::vector<Standing> standings(settings_.size());
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const std::vector<double>& values = counting(i);
    Standing& standing = standings[i];
    standing.launches = static_cast<int>(settings_[i].selection.size() + settings_[i].final.size());
    if (settings_[i].failed) standing.verdict = Standing::Verdict::failed;
    if (values.empty()) continue;
    standing.median = median(values);
    standing.interval = repeat_interval(values);
  }
  judge(standings);
  return standings;
}

/// Judges finalists against the one with the least median; of the others it only notes how far behind they were.
void Race::judge(std::vector<Standing>& standings) const {
  std::vector<std::size_t> judged;
  for (const std::size_t setting : left_)
    if (!settings_[setting].failed && !counting(setting).empty()) judged.push_back(setting);
  if (judged.empty()) return;
  const std::size_t best = *std::ranges::min_element(judged, {}, [&](std::size_t i) { return standings[i].median; });
  std::vector<double> p_values;
  for (const std::size_t setting : judged)
    if (setting != best) p_values.push_back(rank_test(counting(best), counting(setting)));
  auto p = holm_corrected(p_values);
  auto corrected = p.begin();
  for (std::size_t i = 0; i < standings.size(); ++i)
    if (standings[i].median > 0) standings[i].slower_by = relative_shift(counting(best), counting(i));
  for (const std::size_t setting : judged) {
    Standing& standing = standings[setting];
    standing.verdict = Standing::Verdict::best;
    if (setting == best) continue;
    standing.p = *corrected++;
    const bool slower = standing.p < kSignificance && standing.slower_by >= kLeastEffect;
    standing.verdict = slower ? Standing::Verdict::slower : Standing::Verdict::equal;
  }
}

}  // namespace hbench
