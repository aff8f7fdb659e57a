#pragma once

/// A cluster of nodes like this machine, joined by the network of another profile: what was measured on this machine
/// (links by timed all-reduces, compressors, steps of frameworks), and the text of the profile's file. Pure.
///
/// A ring of N ranks takes 2(N-1) steps of latency a + S/(N B) for S bytes (R. Thakur, R. Rabenseifner, W. Gropp,
/// "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005): a straight line in S, with a
/// and B as its two figures. Reductions are within B: for one N their time has the same shape.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/points/points.hpp"
#include "analysis/records/records.hpp"
#include "collectives/base/units.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// One timed ring all-reduce: bytes of each rank's buffer, seconds of the slowest rank.
struct TimedSize {
  std::int64_t bytes = 0;
  double seconds = 0;

  friend bool operator==(const TimedSize&, const TimedSize&) = default;
};

/// A line through every other size, and how far it is from the sizes between, which it has not seen.
struct LinkFit {
  Seconds latency;      ///< of one message; at least 0
  BytesPerSecond rate;  ///< of one rank's link, in one direction
  std::size_t unseen = 0;
  /// |fitted - timed| / timed over the unseen sizes, as fractions.
  double mean_error = 0, largest_error = 0;
};

/// Least squares of the relative errors, because times span orders of magnitude. A curve that is no line gives a
/// large error, not a refusal. `timed` in any order, each size once; `ranks` of at least 2.
/// \throws Error (usage) for fewer than four sizes, (wrong_data) for times that are none or do not grow with the size.
LinkFit fit_link(std::vector<TimedSize> timed, int ranks);

/// Returns the time of a ring all-reduce of `bytes` bytes among `ranks` ranks over the fitted link.
Seconds ring_time(const LinkFit& link, int ranks, std::int64_t bytes);

/// What was measured here.
struct MachineFigures {
  int ranks = 1;                ///< GPUs, or CPU cores that stand for GPUs: one node's
  std::string gpu;              ///< what one of them is, for people
  std::string what;             ///< several of them: `GPUs`, `CPU cores`
  std::string how;              ///< what measured them, when, on what: the source of these figures
  std::string how_linked;       ///< the all-reduces behind `link`
  std::optional<LinkFit> link;  ///< none with one rank
  std::map<std::string, GpuRate, std::less<>> rates;        ///< by workload; their sources say how they were measured
  std::map<std::string, StatedCoding, std::less<>> coding;  ///< by compressor, likewise
};

/// `machines like this joined by hkbu-10gbe, 8 GPUs per node, 10 Gbit/s`: legends have room for the first part.
std::string machine_title(const Profile& network, const MachineFigures& machine);

/// The TOML text that `parse_profile` reads. From `network` come, each with its source, the figures between nodes, of
/// parameter servers, and of computing beside communication; inside a node they are measured, or `network`'s where
/// nothing was. Left out is what belongs to its GPUs and nodes: their rates, memory and price; reductions are within
/// the measured link. The uncertainty is `network`'s, or the fit's mean error where that is larger.
std::string format_machine_profile(const Profile& network, const MachineFigures& machine);

/// Steps of frameworks that a sweep has measured, as rows that a profile of that machine is fitted to.
struct FrameworkRows {
  std::vector<CaseResult> rows;
  std::size_t others = 0;  ///< measured steps of frameworks that no row is made of
};

/// Returns the steps on several ranks of the machine that has measured last, as rows of `profile`: the throughput, and
/// that of one process alone which took turns with it, so that a row is off by what its efficiency is. Left out are
/// those without an efficiency, those of other machines, and those with parameter servers, which shared the machine
/// with workers and would have nodes of their own.
FrameworkRows framework_rows(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                             const std::string& profile);

/// Returns what compressors take on one machine, from collectives that were timed there: by compressor, of measured
/// collectives on the machine and the kind of device of `like`: for each byte the median over sizes from a sixteenth of
/// the largest on, for a call what the smallest takes beyond its bytes. The source of each names the newest day:
/// `coding rates measured here on 2026-11-26 by hbench collective, 9 sizes`. Compressors that nobody timed there have
/// none.
std::map<std::string, StatedCoding, std::less<>> coding_rates(const std::vector<CaseResult>& results, const Case& like);

}  // namespace hbench
