#include "analysis/trace/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/statistics/statistics.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Of a step: less is noise, and nobody waits long for it.
constexpr double kNoise = 0.02;
constexpr double kLevel = 0.01;
/// The share of a step by which a rank is late without need of a test, where at least `kFewestStragglerSteps` steps,
/// and all, show it.
constexpr double kGlaring = 0.1;

constexpr std::array<std::string_view, 5> kOwnParts{"input", "forward", "backward", "optimizer", "between steps"};
/// A rank's own work in a step, in seconds, by part.
using OwnWork = std::array<double, kOwnParts.size()>;

double total(const OwnWork& work) {
  double sum = 0;
  for (const double part : work) sum += part;
  return sum;
}

/// By rank; and the length of the step.
struct StepWork {
  std::map<Rank, OwnWork> work;
  double length = 0;
};

StepWork work_of(const TracedStep& step) {
  StepWork result;
  std::map<Rank, double> whole, waited;
  for (const Span& span : step.spans) {
    const double duration = span.duration().value;
    if (span.kind == SpanKind::step) {
      whole[span.rank] = duration;
      result.length = std::max(result.length, duration);
    }
    if (span.kind == SpanKind::wait) waited[span.rank] += duration;
    const auto part = std::ranges::find(kOwnParts, to_string(span.kind));
    if (part != kOwnParts.end()) result.work[span.rank][static_cast<std::size_t>(part - kOwnParts.begin())] += duration;
  }
  for (auto& [rank, work] : result.work) work.back() = std::max(0.0, whole[rank] - waited[rank] - total(work));
  return result;
}

/// By how much a rank does more than the middle one of the others, in all and by part.
struct Excess {
  double all = 0;
  OwnWork parts{};
};

Excess excess_of(const StepWork& step, Rank rank) {
  std::vector<double> others;
  std::array<std::vector<double>, kOwnParts.size()> others_parts;
  for (const auto& [other, work] : step.work) {
    if (other == rank) continue;
    others.push_back(total(work));
    for (std::size_t i = 0; i < work.size(); ++i) others_parts[i].push_back(work[i]);
  }
  const OwnWork& own = step.work.at(rank);
  Excess excess{.all = total(own) - median(others)};
  for (std::size_t i = 0; i < own.size(); ++i) excess.parts[i] = own[i] - median(others_parts[i]);
  return excess;
}

/// How often chance makes one of `ranks` equal ranks the last in `late` of `steps` or more.
double by_chance(std::size_t late, std::size_t steps, std::size_t ranks) {
  const auto all = static_cast<double>(ranks);
  return std::min(1.0, binomial_tail(late, steps, 1 / all) * all);
}

/// What is known of one rank after all steps.
struct Record {
  std::vector<Excess> late;
  std::size_t glaring = 0;
};

Straggler straggler_of(Rank rank, const Record& record, std::size_t steps) {
  std::vector<double> all;
  std::array<std::vector<double>, kOwnParts.size()> parts;
  for (const Excess& excess : record.late) {
    all.push_back(excess.all);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].push_back(excess.parts[i]);
  }
  Straggler straggler{.rank = rank, .late = all.size(), .steps = steps, .by = Seconds(median(all))};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Seconds in_part(median(parts[i]));
    if (i > 0 && in_part <= straggler.in_part) continue;
    straggler.part = kOwnParts[i];
    straggler.in_part = in_part;
  }
  return straggler;
}

/// How long at least one bucket of a rank is in flight.
double time_in_flight(const std::vector<Span>& spans, Rank rank) {
  std::vector<std::pair<double, double>> flights;
  for (const Span& span : spans)
    if (span.rank == rank && span.kind == SpanKind::communication)
      flights.emplace_back(span.begin.value, span.end.value);
  std::ranges::sort(flights);
  double total = 0, reached = 0;
  for (const auto& [begin, end] : flights) {
    total += std::max(0.0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return total;
}

std::optional<SlowBucket> slowest_bucket_of(const std::vector<TracedStep>& steps) {
  std::map<int, std::vector<double>> flights;
  std::vector<double> in_flight;
  for (const TracedStep& step : steps) {
    std::set<Rank> ranks;
    for (const Span& span : step.spans)
      if (span.kind == SpanKind::communication) {
        flights[span.bucket].push_back(span.duration().value);
        ranks.insert(span.rank);
      }
    for (const Rank rank : ranks) in_flight.push_back(time_in_flight(step.spans, rank));
  }
  if (flights.empty()) return std::nullopt;
  const auto longest = std::ranges::max_element(flights, {}, [](const auto& bucket) { return median(bucket.second); });
  return SlowBucket{.bucket = longest->first,
                    .buckets = static_cast<int>(flights.size()),
                    .flight = Seconds(median(longest->second)),
                    .communication = Seconds(median(in_flight))};
}

}  // namespace

std::string Straggler::in_words() const {
  return fmt::format("rank {} is late in {} of {} steps, by {}, in {}", rank, late, steps, format(by), part);
}

std::optional<Straggler> find_straggler(const std::vector<TracedStep>& steps) {
  std::map<Rank, Record> records;
  std::size_t counted = 0, ranks = 0;
  for (const TracedStep& step : steps) {
    const StepWork work = work_of(step);
    if (work.work.size() < 2) continue;
    ++counted;
    ranks = std::max(ranks, work.work.size());
    const auto last =
        std::ranges::max_element(work.work, {}, [](const auto& rank_and_work) { return total(rank_and_work.second); });
    const Excess excess = excess_of(work, last->first);
    if (excess.all <= kNoise * work.length) continue;
    Record& record = records[last->first];
    record.late.push_back(excess);
    record.glaring += excess.all > kGlaring * work.length;
  }
  const auto most = std::ranges::max_element(
      records, {}, [](const auto& rank_and_record) { return rank_and_record.second.late.size(); });
  if (most == records.end()) return std::nullopt;
  const auto& [rank, record] = *most;
  const bool glaring = counted >= kFewestStragglerSteps && record.glaring == counted;
  if (!glaring && by_chance(record.late.size(), counted, ranks) > kLevel) return std::nullopt;
  return straggler_of(rank, record, counted);
}

TraceSummary summarize_trace(const std::vector<TracedStep>& steps) {
  std::map<Rank, std::array<std::vector<double>, kLedgerParts.size()>> by_rank;
  std::vector<double> lengths, exposed;
  std::set<int> launches;
  for (const TracedStep& step : steps) {
    double longest = 0, share = 0;
    const std::vector<RankLedger> ledgers = step_ledgers(step.spans);
    for (const auto& [rank, ledger] : ledgers) {
      longest = std::max(longest, ledger.step().value);
      share += ledger.exposed / ledger.step() / static_cast<double>(ledgers.size());
      for (std::size_t i = 0; i < kLedgerParts.size(); ++i)
        by_rank[rank][i].push_back((ledger.*kLedgerParts[i].part).value);
    }
    if (ledgers.empty()) continue;
    lengths.push_back(longest);
    exposed.push_back(share);
    launches.insert(step.launch);
  }
  TraceSummary summary{.launches = launches.size(),
                       .steps = lengths.size(),
                       .step = Seconds(median(lengths)),
                       .exposed = median(exposed),
                       .slowest_bucket = slowest_bucket_of(steps),
                       .straggler = find_straggler(steps)};
  for (const auto& [rank, parts] : by_rank) {
    RankLedger& of_rank = summary.ranks.emplace_back(RankLedger{.rank = rank});
    for (std::size_t i = 0; i < kLedgerParts.size(); ++i)
      of_rank.ledger.*kLedgerParts[i].part = Seconds(median(parts[i]));
  }
  return summary;
}

}  // namespace hbench
