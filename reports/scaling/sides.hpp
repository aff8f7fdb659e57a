#pragma once

/// Two ways to train, each by its best configuration: whoever compares two uses this, and `lead_of`. No way is judged
/// by a configuration that nobody would choose.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/points/lead.hpp"
#include "analysis/points/points.hpp"

namespace hbench {

/// Points of the report's input.
using Pointers = std::vector<const Point*>;

/// Those that `keep(const Point*)` accepts, in their order.
template <class Keep>
Pointers filtered(const Pointers& points, Keep keep) {
  Pointers kept;
  std::ranges::copy_if(points, std::back_inserter(kept), keep);
  return kept;
}

/// \pre the point has an efficiency.
inline double efficiency_of(const Point* point) { return *point->efficiency; }

/// The points by what two must share to be compared, all but the strategy: their evidence, workload, batch, GPUs,
/// nodes, network and how they compute. In their order.
std::vector<Pointers> by_question(const Pointers& points);

/// The most efficient points of two ways for one question: workload, batch, GPU count, place and, where it is timed,
/// number of nodes. At least one is there.
struct Match {
  const Point* first = nullptr;   ///< null where there is none; taken where the two are level
  const Point* second = nullptr;  ///< null where there is none

  bool both() const { return first != nullptr && second != nullptr; }
  /// Of the first over the second. \pre both()
  Lead lead() const { return lead_of(*first, *second); }
  /// The second where it is ahead or likely so, or alone; where one launch each tells nothing, the better figure.
  const Point& better() const {
    if (!both()) return first == nullptr ? *second : *first;
    const Lead found = lead();
    const bool level = found.is_judged() && found.verdict() == LeadVerdict::level;
    return !level && found.ratio < 1 ? *second : *first;
  }
};

/// Two ways and their match on each network, the most efficient network first.
struct Contest {
  std::string first, second;  ///< their names within a sentence; empty where only one way was tried
  std::vector<Match> matches;
};

/// All-reduce (first) against parameter servers, for each question and place among `points`. A configuration is
/// algorithm and fusion policy, or placement, mode and number of servers. Of a side that has points without compression
/// only these count, because compressed gradients are not the same training. \pre every point has an efficiency.
std::vector<Match> best_of_sides(const Pointers& points);

/// The comparison that `points` were asked for. Of a sweep over compressors no compression (first) against the
/// compressor that gains most; else of all-reduce and parameter servers; else of the best strategy and the next.
/// \pre every point has an efficiency.
Contest contest_of(const Pointers& points);

}  // namespace hbench
