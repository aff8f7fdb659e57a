#pragma once

/// Timing of the candidates of one size: warmed up, and in turns.

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/records/throttling.hpp"
#include "bench/worker/agreement.hpp"
#include "bench/worker/loop_memory.hpp"
#include "bench/worker/memory_pass.hpp"

namespace hbench {

/// Called by all ranks together, entry by entry.
class LoopTiming {
 public:
  /// Called before each iteration, and with `begins` when an entry's turn begins.
  using Working = std::function<void(const LoopEntry& entry, bool begins)>;

  /// \pre all of them outlive it
  LoopTiming(const LoopOptions& options, Endpoint& home, Agreement& agreement, LoopMemory& memory,
             const WatchDevice& watch, Working working)
      : options_(options),
        home_(home),
        agreement_(agreement),
        memory_(memory),
        watch_(watch),
        working_(std::move(working)) {}

  /// Repeats it until caches and ranks are warm, and decides how often it is timed.
  void warm_up(LoopEntry& entry);
  /// Times what a lossy candidate takes to encode and decode. \pre it works in host memory
  void time_coding(LoopEntry& entry);
  /// Times all entries in `turns` turns, in alternating order: A B, B A.
  void time(std::vector<LoopEntry>& entries, int turns);

 private:
  void note_traffic(LoopEntry& entry, std::int64_t bytes, int runs);
  void prepare(LoopEntry& entry);
  bool has_bound(const LoopEntry& entry) const;
  bool timed(const LoopEntry& entry, std::string_view metric) const;
  double iterate(LoopEntry& entry, std::string_view metric);
  double pass_together(LoopEntry& entry, bool writes);
  void time_block(LoopEntry& entry, std::string_view metric, int iterations);
  GpuState look(const LoopEntry& entry);

  const LoopOptions& options_;
  Endpoint& home_;
  Agreement& agreement_;
  LoopMemory& memory_;
  const WatchDevice& watch_;
  Working working_;
  std::map<Device*, std::unique_ptr<GpuWatch>> watches_;
  MemoryPass memory_pass_;
  std::size_t caches_ = last_level_cache_bytes();
};

}  // namespace hbench
