#pragma once

/// The check that a candidate's results are right, before it is timed.
///
/// Timing of the candidates of one size: warmed up, and in turns.
///
/// How fast memory is to what shared-memory collectives do with it: their kernels, their stores, their blocks and as
/// many streams, without anybody to wait for.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/records/machine_facts.hpp"
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

class MemoryPass {
 public:
  /// Reads every byte of `buffer` once, as `streams` equal parts side by side (what is over is left out).
  void read(std::span<std::byte> buffer, std::size_t streams);
  /// The same, and writes every byte once.
  void rewrite(std::span<std::byte> buffer, std::size_t streams);

 private:
  void pass(std::span<std::byte> buffer, std::size_t streams, bool writes);

  std::vector<std::byte> small_;  ///< stays in the cache: where a reading pass leaves its sums
};

/// Of all last-level caches of this machine together, as the kernel lists them in `cpus`; 0 where it does not.
std::size_t last_level_cache_bytes(const std::filesystem::path& cpus = "/sys/devices/system/cpu");

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
