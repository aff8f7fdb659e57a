#pragma once

/// What a comparison comes to. Pure.
///
/// What JSON, CSV and tables say of a collective's results and of what they come to. Times in seconds, bandwidths in
/// bytes per second. Pure.
///
/// The results of `hbench collective` for machines. Times in seconds, bandwidths in bytes per second. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/points/collectives.hpp"
#include "analysis/records/records.hpp"
#include "bench/collective/plan.hpp"
#include "collectives/base/units.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// One result with its figures.
struct CollectiveRow {
  CaseResult result;
  CollectiveFigures figures;
  std::string label;  ///< of the candidate

  const Case& asked() const { return result.asked; }
  /// What comparisons are made of: in place, or out of place where that alone was timed.
  std::optional<double> seconds() const { return figures.in_place.seconds; }
};

/// In the order of ranks, size and candidate of the plan.
std::vector<CollectiveRow> collective_rows(const std::vector<CaseResult>& results);

/// Labels in the order of their first row.
std::vector<std::string> candidates_of(const std::vector<CollectiveRow>& rows);

/// One of ours against the best peer at each size.
struct PeerComparison {
  int ranks = 0;
  std::string ours;           ///< a label, or `the best of ours`
  double geometric_mean = 0;  ///< of best peer's time / our time, over the sizes that both have
  std::size_t sizes = 0;
  std::int64_t worst_bytes = 0;
  double worst = 0;
  std::string worst_peer;
};
std::vector<PeerComparison> compare_with_peers(const std::vector<CollectiveRow>& rows);

/// How near a shared-memory collective comes to the least time that memory allows it.
struct BoundShare {
  /// Noise of two times that are measured in turn.
  static constexpr double kNoise = 0.05;

  int ranks = 0;
  std::string ours;
  std::int64_t bytes = 0;  ///< the largest size
  double bound_seconds = 0;
  double seconds = 0;

  double share() const { return bound_seconds / seconds; }
  /// Nothing is faster than a bound: where something is, by more than noise, the bound is wrong.
  bool exceeded() const { return share() > 1 + kNoise; }
};
std::vector<BoundShare> shares_of_bound(const std::vector<CollectiveRow>& rows);

/// Bus bandwidth of the fastest at one size, as a share of what a link carries.
struct LinkShare {
  int ranks = 0;
  std::int64_t bytes = 0;
  std::string candidate;
  bool peer = false;
  BytesPerSecond busbw{0};
  double share = 0;
};
/// For each world and size the best of ours, then the best peer where there is one.
std::vector<LinkShare> shares_of_link(const std::vector<CollectiveRow>& rows, BytesPerSecond link);

/// A result without its samples.
void collective_fields(Row& row, const CollectiveRow& each);
void peer_fields(Row& row, const PeerComparison& each);
void bound_fields(Row& row, const BoundShare& each);
void link_fields(Row& row, const LinkShare& each);

/// The number of elements.
std::int64_t count_of(const Case& asked);

/// One object: what was run and where, `results` with every raw sample, `refused`, `comparison` and `bound`.
/// With `link` (what each rank's link carries) also the shares of it.
std::string collective_json(const std::vector<CollectiveRow>& rows, const std::vector<Refusal>& refused, const Run& run,
                            const std::optional<BytesPerSecond>& link = std::nullopt, Form form = Form::values);

/// A header and a line per result, without raw samples.
std::string collective_csv(const std::vector<CollectiveRow>& rows);

}  // namespace hbench
