#pragma once

/// The buffers of a rank's loop: one for each executor, used by all sizes, and what is copied to and from devices.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/worker/loop_entry.hpp"
#include "bench/worker/pattern.hpp"

namespace hbench {

/// Returns what ranks begin with, and what must come out. \pre the entry runs
Pattern pattern_of(const LoopEntry& entry);

/// Used by the rank's thread alone.
class LoopMemory {
 public:
  /// Sizes have at most `most_bytes`. \pre `home` outlives it
  LoopMemory(Endpoint& home, std::int64_t most_bytes) : home_(home), most_bytes_(most_bytes) {}

  /// The memory of an executor, the same for all sizes: one allocation, touched once.
  std::span<std::byte> buffer_of(std::string_view executor, Endpoint& endpoint, std::size_t bytes);
  /// What is reduced out of place, where the entry's device reads it. Host memory is shared by all who work there.
  std::span<std::byte> input(const LoopEntry& entry);
  /// `fill` writes what is to be in `buffer`, in host memory.
  void put(const LoopEntry& entry, std::span<std::byte> buffer, const std::function<void(std::span<std::byte>)>& fill);
  /// Puts this rank's input into `buffer`: of lossy candidates normally distributed values, else a pattern.
  void put_input(const LoopEntry& entry, std::span<std::byte> buffer);
  /// Puts normally distributed values of this rank into `buffer`.
  void put_normal(const LoopEntry& entry, std::span<std::byte> buffer);
  /// Returns what is in the entry's buffer, in host memory; valid until the next call of `put` or `content`.
  std::span<std::byte> content(const LoopEntry& entry);

 private:
  Endpoint& home_;
  std::int64_t most_bytes_;
  std::map<std::string, std::span<std::byte>> buffers_;
  std::map<Endpoint*, std::span<std::byte>> inputs_;
  std::vector<std::byte> host_;  ///< what goes to a device, or came from one
};

}  // namespace hbench
