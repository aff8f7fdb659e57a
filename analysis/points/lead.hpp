#pragma once

/// Who is ahead of two ways to train: the one rule of reports, verdicts, maps and choices. Pure.
///
/// Two steps on one cluster share what is not known of it (what its network carries, how fast its GPU is), so they are
/// compared end by end: with the stated figures, with all of them better, with all of them worse. What they do not
/// share widens the band of their ratio: the model's own error of a pair, what all-reduces and parameter servers have
/// apart, and what the implementation of a compressor costs. Steps that were timed are compared by their launches.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/points/point.hpp"

namespace hbench {

enum class Ahead : std::uint8_t { first, level, second };

/// The lead of the one with the better figure, in the words of every verb: by all of the band, by half of it (on
/// logarithms) and more, or by less. Published pairs that are likely ahead have this order in 9 of 10 cases too
/// (`hbench validate`).
enum class LeadVerdict : std::uint8_t { level, likely, ahead };
/// `level`, `likely`, `ahead`.
std::string_view to_string(LeadVerdict verdict);

/// The number of times that the first is as fast as the second.
struct Lead {
  double ratio = 1;
  double low = 1, high = 1;  ///< its band; 0 and infinity where one launch each says nothing of others

  /// Whether there is a band.
  bool is_judged() const { return low > 0; }

  /// Which of the two is ahead: by all of the band.
  Ahead who() const { return low > 1 ? Ahead::first : high < 1 ? Ahead::second : Ahead::level; }
  LeadVerdict verdict() const;
  /// The second's over the first.
  Lead inverse() const { return {1 / ratio, 1 / high, 1 / low}; }
  /// `1.5 (1.3 to 1.8)`; with two decimals where one would read as 1.
  std::string in_words() const;
};

/// The lead whose ratios are `ratios` at the ends of what is not known, the stated one first, and may each be off by
/// `error` on logarithms. \pre not empty, above 0.
Lead lead_within(std::initializer_list<double> ratios, double error);

/// What is not known of the ratio of two simulated steps that do equal work on one cluster, the second over the first:
/// `slower` where it may be larger.
std::vector<Unknown> unknowns_of(const StepEnds& first, const StepEnds& second);

/// Of such steps.
Lead lead_of(const StepEnds& first, const StepEnds& second);

/// Of points of one workload. Simulated ones on different clusters share nothing: each end meets the other's opposite.
/// Timed ones are compared launch by launch where they took turns, and else by the scatter of their launches; one
/// launch each is no verdict. Of published figures a tenth is ahead, half of it likely. \pre none failed, both have a
/// throughput or an efficiency.
Lead lead_of(const Point& first, const Point& second);

}  // namespace hbench
