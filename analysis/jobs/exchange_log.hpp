#pragma once

/// Recorders that see only the exchanges between ranks, and mark no steps.

#include <string>
#include <vector>

#include "analysis/jobs/recording.hpp"

namespace hbench {

/// The exchanges of one rank, in the order of their launches.
struct ExchangeLog {
  Recording recording;  ///< the facts; it has no steps
  std::vector<RecordedCollective> exchanges;
  bool timed = false;     ///< `launched` of the exchanges is known; its origin is any
  std::string more_cure;  ///< how one records more exchanges
};

/// Returns the recording with its steps: parts of the log that repeat. A step begins where its exchanges begin: after
/// the last reduction of gradients where others follow (FSDP), else after the longest pause. It ends where the next one
/// begins. Without launch times, its own time is 0: not known. Reductions of numbers that repeat are taken to carry
/// gradients; what has up to 64 elements (losses, norms, flags) is not. \throws Error (usage) when nothing repeats.
Recording with_steps(ExchangeLog log);

}  // namespace hbench
