#pragma once

/// `hbench calibrate --from FILE`: a profile fitted to steps that somebody has measured. Needs no library of ranks.

#include "bench/command/verb.hpp"

namespace hbench {

/// Whether `--from` is among the arguments.
bool calibrates_from_rows(const Call& call);
ExitCode calibrate_from_rows(const Call& call);

}  // namespace hbench
