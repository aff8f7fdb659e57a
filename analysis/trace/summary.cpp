#include "analysis/trace/summary.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

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
