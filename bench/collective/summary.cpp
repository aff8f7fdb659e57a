#include "bench/collective/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "bench/collective/plan.hpp"

namespace hbench {
namespace {

constexpr const char* kBestOfOurs = "the best of ours";

/// Times at one size: of the peers' best, and of each of ours.
struct AtSize {
  std::optional<double> peer;
  std::string peer_label;
  std::map<std::string, double> ours;
};

PeerComparison compare(int ranks, const std::string& label, const std::map<std::int64_t, AtSize>& sizes) {
  PeerComparison comparison{.ranks = ranks, .ours = label};
  double logarithms = 0;
  for (const auto& [bytes, at] : sizes) {
    const auto ours = label == kBestOfOurs
                          ? std::ranges::min_element(at.ours, {}, [](const auto& entry) { return entry.second; })
                          : at.ours.find(label);
    if (!at.peer || ours == at.ours.end()) continue;
    const double ratio = *at.peer / ours->second;
    logarithms += std::log(ratio);
    ++comparison.sizes;
    if (comparison.sizes > 1 && ratio >= comparison.worst) continue;
    comparison.worst = ratio;
    comparison.worst_bytes = bytes;
    comparison.worst_peer = at.peer_label;
  }
  if (comparison.sizes > 0) comparison.geometric_mean = std::exp(logarithms / static_cast<double>(comparison.sizes));
  return comparison;
}

}  // namespace

std::vector<CollectiveRow> collective_rows(const std::vector<CaseResult>& results) {
  std::vector<CollectiveRow> rows;
  for (const CaseResult& result : results)
    rows.push_back({result, collective_figures(result), candidate_label(result.asked)});
  // Cases of several process sets, such as MPICH's, belong beside the others of their size.
  const std::vector<std::string> order = candidates_of(rows);
  const auto place = [&](const CollectiveRow& row) {
    return std::tuple(row.asked().gpus, row.asked().collective.bytes,
                      std::ranges::find(order, row.label) - order.begin());
  };
  std::ranges::stable_sort(rows, {}, place);
  return rows;
}

std::vector<std::string> candidates_of(const std::vector<CollectiveRow>& rows) {
  std::vector<std::string> labels;
  for (const CollectiveRow& row : rows)
    if (std::ranges::find(labels, row.label) == labels.end()) labels.push_back(row.label);
  return labels;
}

std::vector<PeerComparison> compare_with_peers(const std::vector<CollectiveRow>& rows) {
  std::map<int, std::map<std::int64_t, AtSize>> worlds;
  for (const CollectiveRow& row : rows) {
    const std::optional<double> seconds = row.seconds();
    if (!seconds || *seconds <= 0) continue;
    AtSize& at = worlds[row.asked().gpus][row.asked().collective.bytes];
    if (!is_peer(row.asked())) {
      at.ours[row.label] = *seconds;
    } else if (!at.peer || *seconds < *at.peer) {
      at.peer = seconds;
      at.peer_label = row.label;
    }
  }
  std::vector<PeerComparison> all;
  for (const auto& [ranks, sizes] : worlds) {
    std::set<std::string> labels;
    for (const auto& [bytes, at] : sizes)
      for (const auto& [label, seconds] : at.ours) labels.insert(label);
    for (const std::string& label : candidates_of(rows))
      if (labels.contains(label)) all.push_back(compare(ranks, label, sizes));
    if (labels.size() > 1) all.push_back(compare(ranks, kBestOfOurs, sizes));
  }
  std::erase_if(all, [](const PeerComparison& comparison) { return comparison.sizes == 0; });
  return all;
}

std::vector<BoundShare> shares_of_bound(const std::vector<CollectiveRow>& rows) {
  std::vector<BoundShare> shares;
  for (const CollectiveRow& row : rows) {
    if (!row.figures.bound_seconds || !row.seconds()) continue;
    const BoundShare share{row.asked().gpus, row.label, row.asked().collective.bytes, *row.figures.bound_seconds,
                           *row.seconds()};
    const auto known = std::ranges::find_if(
        shares, [&](const BoundShare& other) { return other.ranks == share.ranks && other.ours == share.ours; });
    if (known == shares.end())
      shares.push_back(share);
    else
      *known = share;  // rows ascend: the largest stays
  }
  return shares;
}

std::vector<LinkShare> shares_of_link(const std::vector<CollectiveRow>& rows, BytesPerSecond link) {
  std::map<std::tuple<int, std::int64_t, bool>, LinkShare> fastest;
  for (const CollectiveRow& row : rows) {
    const std::optional<double> seconds = row.seconds();
    if (!seconds || *seconds <= 0) continue;
    const Case& asked = row.asked();
    LinkShare share{
        .ranks = asked.gpus, .bytes = asked.collective.bytes, .candidate = row.label, .peer = is_peer(asked)};
    share.busbw =
        BytesPerSecond(static_cast<double>(share.bytes) / *seconds * bus_factor(asked.collective.name, asked.gpus));
    share.share = share.busbw.value / link.value;
    LinkShare& best = fastest[{share.ranks, share.bytes, share.peer}];
    if (share.share > best.share) best = std::move(share);
  }
  std::vector<LinkShare> shares;
  for (auto& [key, share] : fastest) shares.push_back(std::move(share));
  return shares;
}

}  // namespace hbench
