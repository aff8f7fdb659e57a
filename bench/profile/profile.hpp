#pragma once

/// `hbench profile init`: a profile of one's own, from flags, from this machine, or from answers on a terminal.

#include <iosfwd>

#include "analysis/fit/own_profile.hpp"
#include "bench/command/verb.hpp"
#include "bench/doctor/gpu_findings.hpp"

namespace hbench {

/// What this machine shows of a cluster of such machines: its GPUs, and its fastest NICs that are up. What it does not
/// show stays empty. `gpus` are those of the catalogue.
OwnCluster shown_by(const Machine& machine, std::span<const Profile> gpus);

/// NVLinks between GPUs as their driver shows them; nothing where it shows none.
NodeLinks links_of(std::span<const GpuFacts> gpus);

/// Asks for all that lacks, with what `suggested` has as the answer of an empty line; asks again after an answer that
/// is refused. \throws Error (usage) where the answers end before.
void ask_for_rest(OwnCluster& cluster, const OwnCluster& suggested, std::istream& in, std::ostream& out);

ExitCode run_profile_init(const Call& call);

}  // namespace hbench
