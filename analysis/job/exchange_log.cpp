#include "analysis/job/exchange_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

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

/// Losses, norms and flags have fewer, a bucket of gradients has more.
constexpr std::int64_t kFewElements = 64, kFewBytes = 256;
/// The number of pauses of which one alone is no step's, but such as a checkpoint's.
constexpr std::size_t kRare = 32;
/// Groups that reduce less than this part of all bytes may miss in a step.
constexpr double kLittle = 0.01;

bool reduces(const RecordedCollective& exchange) { return is_reduction(exchange.operation); }

/// Flags and counters are whole numbers.
bool may_carry_gradients(const RecordedCollective& exchange) {
  return reduces(exchange) && (exchange.type.empty() || exchange.type.find("float") != std::string::npos);
}

bool is_small(const RecordedCollective& exchange) {
  if (exchange.elements == 0 && exchange.bytes == 0) return false;
  return exchange.elements <= kFewElements && exchange.bytes <= kFewBytes;
}

class Cutter {
 public:
  explicit Cutter(ExchangeLog log) : log_(std::move(log)) {}

  Recording run() {
    choose_places();
    make_sequence();
    std::optional<Repetition> repetition = find_repetition(sequence_);
    if (!repetition)
      throw Error(ExitCode::usage,
                  fmt::format("{}: nothing repeats in its {}: no step can be seen", log_.recording.file,
                              counted(static_cast<std::int64_t>(log_.exchanges.size()), "exchange")),
                  "record three steps or more: " + log_.more_cure);
    if (repetition->period == 1 && log_.timed) repetition = by_pauses(*repetition);
    period_ = repetition->period;
    find_pattern(*repetition);
    std::size_t free_from = 0;
    for (const Stretch& stretch : repetition->stretches) free_from = cut(stretch, free_from);
    if (log_.recording.steps.empty())
      throw Error(ExitCode::usage, fmt::format("{}: its times do not increase", log_.recording.file),
                  "was the clock set while it was recorded? record again");
    return std::move(log_.recording);
  }

 private:
  /// Of the exchanges by which steps are recognised: not of what happens now and then.
  void choose_places() {
    for (const bool small_too : {false, true}) {
      for (std::size_t i = 0; i < log_.exchanges.size(); ++i)
        if (log_.exchanges[i].operation != "broadcast" && (small_too || !is_small(log_.exchanges[i])))
          places_.push_back(i);
      if (!places_.empty()) return;
    }
  }

  void make_sequence() {
    std::map<std::string, double> reduced;  // by group
    double sum = 0;
    for (const std::size_t place : places_) {
      const RecordedCollective& each = log_.exchanges[place];
      const double size = static_cast<double>(each.elements + each.bytes);
      if (reduces(each)) reduced[each.group] += size, sum += size;
    }
    std::map<std::string, int> classes;
    for (const auto& [group, size] : reduced)
      if (size >= kLittle * sum) classes.emplace(group, static_cast<int>(classes.size()) + 1);
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::string, std::string>, int> kinds;
    for (const std::size_t place : places_) {
      const RecordedCollective& each = log_.exchanges[place];
      const auto kind =
          kinds.try_emplace({each.operation, each.elements, each.bytes, each.type, each.group}, kinds.size()).first;
      const auto found = reduces(each) ? classes.find(each.group) : classes.end();
      sequence_.push_back({kind->second, found == classes.end() ? 0 : found->second});
    }
  }

  const RecordedCollective& at(std::size_t position) const { return log_.exchanges[places_[position]]; }

  double pause_at(std::size_t position) const { return (at(position).launched - at(position - 1).launched).value; }

  /// The least of the pauses that are clearly longer than the others; infinite where there are none.
  double long_pause() const {
    std::vector<double> pauses;
    for (std::size_t i = 1; i < places_.size(); ++i) pauses.push_back(pause_at(i));
    std::ranges::sort(pauses);
    double most = 0, least = INFINITY;
    for (std::size_t i = 1; i < pauses.size() - pauses.size() / kRare; ++i)
      if (const double more = pauses[i] - pauses[i - 1]; more > most) {
        most = more;
        least = more > pauses[i - 1] ? pauses[i] : INFINITY;
      }
    return least;
  }

  /// Returns the steps of exchanges that are all alike, which may be several of a step: where some pauses are clearly
  /// longer than others a step begins after each of these. Pauses that follow no rule leave the step unknown.
  Repetition by_pauses(const Repetition& alike) {
    constexpr Symbol kAfterPause{1 << 20, 1 << 20};
    const double least = long_pause();
    if (std::isinf(least)) return alike;
    std::vector<Symbol> marked = sequence_;
    for (std::size_t i = 1; i < marked.size(); ++i)
      if (pause_at(i) >= least) marked[i] = kAfterPause;
    const std::optional<Repetition> steps = find_repetition(marked);
    std::size_t explained = 0;
    for (std::size_t i = 0; steps && i < steps->stretches.size(); ++i)
      explained += steps->stretches[i].end - steps->stretches[i].begin;
    if (2 * explained >= marked.size()) {
      sequence_ = std::move(marked);
      return *steps;
    }
    log_.timed = false;
    log_.recording.unknown.push_back(
        "Its exchanges are all alike, and the pauses between them follow no rule: how many of them a step has is not "
        "known. torch.profiler marks steps.");
    return alike;
  }

  /// The order in which a step has its symbols, from the longest stretch.
  void find_pattern(const Repetition& repetition) {
    const Stretch longest = *std::ranges::max_element(
        repetition.stretches, {}, [](const Stretch& stretch) { return stretch.end - stretch.begin; });
    std::pair<std::size_t, double> best{0, -1};
    std::size_t first = longest.begin;
    for (std::size_t phase = 0; phase < period_; ++phase) {
      const std::pair score(others_from(longest.begin + phase), pause_before(longest, phase));
      if (score > best) best = score, first = longest.begin + phase;
    }
    pattern_.assign(sequence_.begin() + static_cast<std::ptrdiff_t>(first),
                    sequence_.begin() + static_cast<std::ptrdiff_t>(first + period_));
  }

  /// The number of exchanges that follow a reduction before the next one; 0 where none does.
  std::size_t others_from(std::size_t position) const {
    // The sequence repeats here: what stands a period later stands before as well.
    if (!reduces(at(position + period_ - 1))) return 0;
    std::size_t count = 0;
    while (count < period_ && !reduces(at(position + count % period_))) ++count;
    return count;
  }

  /// The median pause before a phase of the step. Without times: whether the last step of the stretch ends there.
  double pause_before(const Stretch& stretch, std::size_t phase) const {
    if (!log_.timed) return (stretch.end - stretch.begin) % period_ == phase ? 1 : 0;
    std::vector<double> pauses;
    for (std::size_t position = stretch.begin + phase; position < stretch.end; position += period_)
      if (position > stretch.begin) pauses.push_back((at(position).launched - at(position - 1).launched).value);
    std::ranges::sort(pauses);
    return pauses[pauses.size() / 2];
  }

  /// Makes steps of a stretch from a position on. Returns the position after the last one.
  std::size_t cut(const Stretch& stretch, std::size_t free_from) {
    const auto end = sequence_.begin() + static_cast<std::ptrdiff_t>(stretch.end);
    auto begin = sequence_.begin() + static_cast<std::ptrdiff_t>(std::max(stretch.begin, free_from));
    if (begin >= end) return free_from;
    begin = std::search(begin, end, pattern_.begin(), pattern_.end());
    auto position = static_cast<std::size_t>(begin - sequence_.begin());
    // Only the begin of the next step ends one.
    const std::size_t last = log_.timed ? stretch.end : stretch.end + 1;
    for (; position + period_ < last; position += period_) {
      add_step(position);
      free_from = position + period_;
    }
    return free_from;
  }

  void add_step(std::size_t position) {
    const std::size_t first = places_[position];
    const std::size_t after = position + period_ < places_.size() ? places_[position + period_] : log_.exchanges.size();
    const Seconds begin = log_.exchanges[first].launched;
    RecordedStep step{.name = fmt::format("step {}", log_.recording.steps.size() + 1)};
    if (log_.timed) step.time = log_.exchanges[after].launched - begin;
    if (log_.timed && step.time.value <= 0) return;  // the clock was set
    for (std::size_t i = first; i < after; ++i) {
      RecordedCollective exchange = std::move(log_.exchanges[i]);
      exchange.launched = exchange.launched - begin;
      if (exchange.began) *exchange.began = *exchange.began - begin;
      exchange.in_backward = may_carry_gradients(exchange) && std::ranges::binary_search(places_, i);
      step.collectives.push_back(std::move(exchange));
    }
    log_.recording.steps.push_back(std::move(step));
  }

  ExchangeLog log_;
  std::vector<std::size_t> places_;  ///< of the exchanges that the sequence is made of
  std::vector<Symbol> sequence_, pattern_;
  std::size_t period_ = 0;
};

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

Recording with_steps(ExchangeLog log) {
  if (log.exchanges.empty())
    throw Error(ExitCode::usage, fmt::format("{}: it holds no exchange between ranks", log.recording.file),
                "record a few steps of training: " + log.more_cure);
  return Cutter(std::move(log)).run();
}

}  // namespace hbench
