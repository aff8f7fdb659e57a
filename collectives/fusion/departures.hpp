#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/fusion/fusion.hpp"
#include "collectives/placement/placement.hpp"

namespace hbench {

/// Which tensors have left in a step; drivers of a policy check with it that none is missing.
class Departures {
 public:
  explicit Departures(std::vector<std::int64_t> tensor_bytes);

  void begin_step();
  /// \throws std::logic_error when more of a tensor leaves than there is.
  void leave(const Bucket& bucket);
  /// Every tensor has left as a whole.
  bool complete() const { return missing_ == 0; }
  /// Tensors that have not left as a whole.
  int missing() const { return static_cast<int>(missing_); }

 private:
  void leave(int tensor, std::int64_t bytes);

  std::vector<std::int64_t> tensor_bytes_;
  std::vector<std::int64_t> left_;  ///< by tensor: bytes; negative once it has left
  std::size_t missing_ = 0;         ///< tensors
};

/// Which servers hold what of a bucket, in its order; `by_tensor` is what `Placement::place` gave.
std::vector<Shard> shards_of(const Bucket& bucket, std::span<const std::vector<Shard>> by_tensor);

}  // namespace hbench
