#pragma once

/// Comparisons that people ask for again and again, ready to be simulated: data only. `hbench list comparisons` prints
/// them, `hbench compare NAME` answers one.

#include <array>
#include <span>
#include <string_view>

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

}  // namespace hbench
