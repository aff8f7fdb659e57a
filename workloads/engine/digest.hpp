#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "collectives/transport/transport.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// FNV-1a over the bit patterns of floats, a float at a time.
class Digest {
 public:
  void add(std::span<const float> values) {
    for (const float value : values) hash_ = (hash_ ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3U;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

/// Workers compare what they have ended with. \throws Error: wrong_data, on all of them, naming the first
/// worker that differs from rank 0; lost_rank.
void compare_digests(std::uint64_t own, const TrainingRequest& request, Transport& transport);

}  // namespace hbench
