#pragma once

/// `hbench compare`: comparisons that people ask for again and again, as data (`hbench list comparisons` prints them),
/// and their simulation, beside what was published of each.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/points/points.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/plan.hpp"

namespace hbench {

/// A cluster under the name that the comparison has for it.
struct ComparedPlace {
  std::string_view label;         ///< `25 Gbit/s TCP`
  std::string_view nodes;         ///< a profile: its nodes, GPUs and, where nothing else is said, its network
  std::string_view network = {};  ///< the profile whose network these nodes are given; empty: their own
  double gbit_per_second = 0;     ///< line rate of all NICs of a node together; 0: as the profile has it

  /// Whether it is a cluster of which something may have been published.
  bool is_real() const { return network.empty() && gbit_per_second == 0; }
};

/// One side of a comparison that can be measured: the frameworks of `hbench list frameworks` whose names begin so.
struct MeasuredSide {
  std::string_view title, frameworks;
};

/// One comparison: all workloads, frameworks and places at all counts.
struct ReadyComparison {
  std::string_view name;
  std::string_view summary;             ///< the question, in at most 57 characters, which help has room for
  std::string_view note;                ///< what a reader must know of the places, in a sentence or more
  std::string_view workloads, presets;  ///< comma lists
  std::string_view gpus;                ///< as `--gpus`
  std::span<const ComparedPlace> places;
  std::array<MeasuredSide, 2> measured = {};  ///< without titles: it is simulated alone

  bool can_be_measured() const { return !measured.front().title.empty(); }
};

/// In the order in which they are listed.
std::span<const ReadyComparison> ready_comparisons();

/// \throws Error (usage), with a suggestion.
const ReadyComparison& find_comparison(std::string_view name);

/// What was simulated and published. Points of a place that is no profile's own have its label as their profile.
struct ComparisonAnswer {
  const ReadyComparison* asked = nullptr;
  std::vector<Point> points;
  std::map<std::string, std::string> titles;  ///< of workloads with their batches, by name
  std::map<std::string, std::string> labels;  ///< of places, by the profile of their points
  std::vector<Refusal> refused;
};

/// The nodes with the network of another cluster: latency, lines, streams, what parameter servers handle over it, and
/// the larger of both uncertainties.
Profile with_network_of(Profile nodes, const Profile& network);

/// \throws Error (usage) where a profile has no rate of one GPU, (interrupted) after a stop.
ComparisonAnswer compare(const ReadyComparison& asked, const Data& data, const SimulationMeans& means = {});

}  // namespace hbench
