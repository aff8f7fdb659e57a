#pragma once

/// Finds which host is slow, or which link, from measurements of all hosts at once. Pure.
///
/// What is slow, for people.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/doctor/diagnosis.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// What two hosts sent each other.
struct LinkSpeeds {
  int a = 0, b = 0;           ///< of `HostSpeeds::hosts`
  std::vector<double> rates;  ///< bytes per second, by pass
};

/// What was measured of hosts, in passes over all of them.
struct HostSpeeds {
  std::vector<std::string> hosts;
  std::vector<std::vector<double>> computed;  ///< by host and pass: floating-point operations per second of one core
  std::vector<LinkSpeeds> links;              ///< not of all pairs where there are many hosts
};

/// What counts as slow, as a fraction of what the others do: less is what equal hosts differ by.
inline constexpr double kSlowCompute = 0.05, kSlowLink = 0.2;
/// How often chance alone may name anything.
inline constexpr double kSlowLevel = 0.01;

/// One that is slow.
struct SlowPart {
  enum class Kind : std::uint8_t { compute, network, link } kind = Kind::compute;
  int host = 0;
  int other = -1;         ///< of a link
  double less = 0;        ///< than the others do, as a fraction: the median over passes
  int passes = 0;         ///< in all
  int slower = 0;         ///< of these, by more than what counts
  double confidence = 0;  ///< 1 less how often chance alone names any, were none slow
};

/// Returns what is slow: computing first, then networks, then links. What a host computes, and what it sends by the
/// middle one of its links (of an even number the faster of the two in the middle, so that one slow link of two is no
/// slow host), is held to the median of the other hosts in the same pass; then each link between hosts whose network is
/// not slow to the median of the other such links. Slow is what is more than `kSlowCompute`, or `kSlowLink`, below it
/// in a number of passes that chance seldom gives, were it as often less far below as more: the sign test, its p-values
/// multiplied by the number of comparisons (Bonferroni), at most `kSlowLevel`. Where there is one link, or no other to
/// hold it to, nothing is said of links.
std::vector<SlowPart> slow_parts(const HostSpeeds& speeds);

/// Whether there are enough hosts to tell a slow network or link: three.
bool can_judge_links(const HostSpeeds& speeds);

/// Returns the number of passes that it takes to name something though one pass disagrees. \param hosts the number of
/// hosts, between which `links` links are measured
int passes_needed(int hosts, int links);

/// By pass, what the host sends by its middle link; empty where no link of it was measured.
std::vector<double> network_of_host(const HostSpeeds& speeds, int host);

/// Returns a finding with its cure for each slow part; what was compared and is as the others, or cannot be judged, is
/// a finding that needs none.
std::vector<Finding> slow_findings(const HostSpeeds& speeds);

/// Hosts with what one core computes and what their middle link carries (medians over passes), and links, the slowest
/// first; each beside the median of all.
std::vector<Table> speed_tables(const HostSpeeds& speeds);

}  // namespace hbench
