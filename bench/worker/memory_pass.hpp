#pragma once

/// How fast memory is to what shared-memory collectives do with it: their kernels, their stores, their blocks and as
/// many streams, without anybody to wait for.

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace hbench {

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

}  // namespace hbench
