#pragma once

/// Collectives on the cluster of a profile, in virtual time: what can be simulated, and how long it takes.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/stop.hpp"

namespace hbench {

/// Why a case with the executor `simulate` is not simulated in `memory` bytes (0: unknown), for a person; empty where
/// it can be. \throws Error (usage) for names that nothing knows.
std::string refuse_to_simulate(const Case& asked, std::int64_t memory);

/// Returns the results, in the order of the cases; each has one `in_place_seconds` with its band
/// (`analysis/points/collectives.hpp`). `clusters` hold the profiles that cases name. `done` is called with each
/// result. Ends early, with what there is, when a stop was requested. \pre no case is refused.
std::vector<CaseResult> simulate_collectives(std::span<const Case> cases, std::span<const Profile> clusters,
                                             const StopRequested& stop,
                                             const std::function<void(const CaseResult&)>& done);

/// What curves of the clusters say of the model, a sentence for each that one of the cases asked for: how far the model
/// is from it, and from where it is.
std::vector<std::string> curve_notes(std::span<const Case> cases, std::span<const Profile> clusters);

}  // namespace hbench
