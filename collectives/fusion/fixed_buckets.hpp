#pragma once

/// Buckets that are known before the step and leave strictly in their order, so that all ranks launch alike without
/// talking: what DDP and MG-WFBP do once they know what they want.

#include <cstddef>
#include <vector>

#include "collectives/fusion/fusion.hpp"

namespace hbench {

/// One owner; a policy's.
class FixedBuckets {
 public:
  explicit FixedBuckets(std::size_t tensors) : bucket_of_(tensors) {}

  /// From the next step on. Every tensor is in exactly one of `buckets`; none is empty.
  void fix(std::vector<Bucket> buckets);
  void begin_step();
  /// The buckets that leave now that `tensor` is ready.
  std::vector<Bucket> ready(int tensor);

 private:
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  ///< by tensor
  std::vector<std::size_t> missing_;    ///< by bucket: tensors that are not ready
  std::size_t next_ = 0;                ///< the bucket that leaves next
};

}  // namespace hbench
