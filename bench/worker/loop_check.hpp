#pragma once

/// Whether a candidate's results are right, before it is timed.

#include <cstdint>
#include <string_view>

#include "bench/worker/agreement.hpp"
#include "bench/worker/loop_memory.hpp"

namespace hbench {

/// Called by all ranks together, entry by entry.
class LoopCheck {
 public:
  /// \pre all of them outlive it
  LoopCheck(const LoopOptions& options, Rank rank, Agreement& agreement, LoopMemory& memory)
      : options_(options), rank_(rank), agreement_(agreement), memory_(memory) {}

  /// Runs it once in place and, where that is timed, once out of place. Marks as void what is wrong on any rank; its
  /// figures say how many elements are, and how far lossy results are off.
  void check(LoopEntry& entry);

 private:
  bool is_wrong(LoopEntry& entry, std::string_view metric);
  std::int64_t wrong_lossy(LoopEntry& entry);

  const LoopOptions& options_;
  Rank rank_;
  Agreement& agreement_;
  LoopMemory& memory_;
};

/// Copies the input into the entry's buffer and runs the collective there.
void run_out_of_place(LoopEntry& entry, std::span<const std::byte> input, Seconds timeout);

}  // namespace hbench
