#pragma once

/// The actions of `hbench track`, one file each.

#include "bench/command/arguments.hpp"

namespace hbench {

extern const Action kTrackInit, kTrackRun, kTrackCheck, kTrackHistory, kTrackAccept, kTrackFreeze, kTrackPair,
    kTrackBisect;

}  // namespace hbench
