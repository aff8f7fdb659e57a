#pragma once

/// What an emulated case of a cluster profile stores beside its steps, and what that says of the figures. Samples
/// belong to a launch; `rank` and `iteration` are 0 where nothing else is said. Pure.
///
/// An emulated step is one of real processes, sockets and gradients on links that are slowed to a cluster's, while
/// compute is replayed; time is stretched by one factor, the dilation. `step_seconds` and what is made of spans are
/// divided by it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

namespace metric {
/// By which time was stretched.
inline constexpr std::string_view kDilation = "emulated_dilation";
/// A step as the clock had it, by rank and iteration, before it was divided.
inline constexpr std::string_view kDilatedStep = "dilated_step_seconds";
/// Of the links before the launch: the least and the most that one carried, as a share of its rate.
inline constexpr std::string_view kLinkLeast = "emulated_link_least";
inline constexpr std::string_view kLinkMost = "emulated_link_most";
/// Share of the processors' time that was idle from the first timed step to the last.
inline constexpr std::string_view kEmulatedIdle = "emulated_idle_share";
/// Share of that time, in slices of a fifth of a second, in which they were not idle for a twentieth: so much of a step
/// may be this machine's and not the cluster's.
inline constexpr std::string_view kEmulatedBusy = "emulated_busy_share";
/// By rank: what the replay itself took of a core in all steps, in seconds of the clock.
inline constexpr std::string_view kReplayTime = "replay_processor_seconds";
/// A fault was planted: the unit says which (`link:1`), the value by how much.
inline constexpr std::string_view kEmulatedFault = "emulated_fault";
}  // namespace metric

/// How a case was emulated, over its launches.
struct EmulationFacts {
  double dilation = 1;
  std::optional<double> link_least, link_most;  ///< none where links were not checked
  std::optional<double> idle;                   ///< the least of the launches
  std::optional<double> busy;                   ///< the most of the launches
  double replay_share = 0;          ///< of a rank's time in steps, what its replay took of a core; the most of a rank
  std::vector<std::string> faults;  ///< `link:1:0.5`, each once

  /// `dilated 68 times; links carried 99.3 to 100.1 % of their rate, processors were 41 % idle`
  std::string in_words() const;
};
/// None for what was not emulated on a profile's links.
std::optional<EmulationFacts> emulation_facts(const CaseResult& result);

}  // namespace hbench
