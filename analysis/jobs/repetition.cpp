#include "analysis/jobs/repetition.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace hbench {
namespace {

/// The end of a sequence that decides its period, and the longest period: what is compared is their product.
constexpr std::size_t kMostCompared = 20'000, kLongestPeriod = 5'000;
/// Another period is better only if it explains clearly more: extra exchanges now and then are no part of a step.
constexpr double kNearlyAsMuch = 0.9;
constexpr double kLeastExplained = 1.0 / 3;

using Symbols = std::vector<Symbol>;

/// A short pattern that stands there twice is likely to be chance.
std::size_t least_length(std::size_t period) { return period * (period < 4 ? 3 : 2); }

/// Calls `visit` with each longest stretch that repeats with the period.
template <class Visit>
void each_stretch(std::span<const Symbol> sequence, std::size_t period, Visit visit) {
  const auto repeats = [&](std::size_t i) {
    return i + period < sequence.size() && sequence[i] == sequence[i + period];
  };
  for (std::size_t begin = 0; begin + period < sequence.size(); ++begin) {
    if (!repeats(begin)) continue;
    std::size_t end = begin;
    while (repeats(end)) ++end;
    if (end + period - begin >= least_length(period)) visit(Stretch{begin, end + period});
    begin = end;
  }
}

Symbols symbols_of(std::span<const Symbol> sequence, const Stretch& stretch, std::size_t period) {
  Symbols symbols(sequence.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
                  sequence.begin() + static_cast<std::ptrdiff_t>(stretch.begin + period));
  std::ranges::sort(symbols);
  return symbols;
}

std::set<int> classes_of(std::span<const Symbol> symbols) {
  std::set<int> classes;
  for (const Symbol& symbol : symbols)
    if (symbol.class_ > 0) classes.insert(symbol.class_);
  return classes;
}

/// Which symbols a period repeats most, and of how many symbols of the sequence they are.
struct Explained {
  Symbols symbols;
  std::size_t count = 0;
};

Explained explained(std::span<const Symbol> sequence, std::size_t period, const std::set<int>& classes) {
  std::map<Symbols, std::size_t> counts;
  each_stretch(sequence, period, [&](const Stretch& stretch) {
    Symbols symbols = symbols_of(sequence, stretch, period);
    if (classes_of(symbols) == classes) counts[std::move(symbols)] += stretch.end - stretch.begin;
  });
  Explained most;
  for (const auto& [symbols, count] : counts)
    if (count > most.count) most = {symbols, count};
  return most;
}

}  // namespace

std::optional<Repetition> find_repetition(std::span<const Symbol> sequence) {
  const auto compared = sequence.last(std::min(sequence.size(), kMostCompared));
  const std::set<int> classes = classes_of(compared);
  std::vector<Explained> periods(1);  // by length
  std::size_t most = 0;
  for (std::size_t period = 1; 2 * period <= compared.size() && period <= kLongestPeriod; ++period) {
    periods.push_back(explained(compared, period, classes));
    most = std::max(most, periods.back().count);
    if (static_cast<double>(most) > 0.97 * static_cast<double>(compared.size())) break;
  }
  if (static_cast<double>(most) < kLeastExplained * static_cast<double>(compared.size()) || most == 0)
    return std::nullopt;
  const auto chosen = std::ranges::find_if(periods, [&](const Explained& each) {
    return static_cast<double>(each.count) >= kNearlyAsMuch * static_cast<double>(most);
  });
  Repetition repetition{.period = static_cast<std::size_t>(chosen - periods.begin()), .stretches = {}};
  each_stretch(sequence, repetition.period, [&](const Stretch& stretch) {
    if (symbols_of(sequence, stretch, repetition.period) == chosen->symbols) repetition.stretches.push_back(stretch);
  });
  return repetition;
}

}  // namespace hbench
