#pragma once

/// Recorders that see only the exchanges between ranks, and mark no steps.
///
/// What repeats in a sequence: the steps of a job whose recorder marks none.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/job/recording.hpp"

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

/// A part of a sequence, `begin` included, `end` not.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

struct Repetition {
  std::size_t period = 0;
  /// Where the sequence repeats with this period, twice or more. All have the same symbols, in an order that differs by
  /// where the stretch begins. In order, none overlaps the one before by a whole period.
  std::vector<Stretch> stretches;
};

/// One element of a sequence.
struct Symbol {
  int kind = 0;    ///< from 0
  int class_ = 0;  ///< of the kind: what is found has all classes above 0
  auto operator<=>(const Symbol&) const = default;
};

/// Returns the shortest period that explains nearly as much of the sequence as any; absent where nothing explains a
/// third of it. Of a long sequence the end decides.
std::optional<Repetition> find_repetition(std::span<const Symbol> sequence);

}  // namespace hbench
