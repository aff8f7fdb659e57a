#include "collectives/fusion/fixed_buckets.hpp"

namespace hbench {

void FixedBuckets::fix(std::vector<Bucket> buckets) {
  buckets_ = std::move(buckets);
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    for (const int tensor : buckets_[i].tensors) bucket_of_[static_cast<std::size_t>(tensor)] = i;
}

void FixedBuckets::begin_step() {
  missing_.clear();
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.tensors.size());
  next_ = 0;
}

std::vector<Bucket> FixedBuckets::ready(int tensor) {
  --missing_[bucket_of_[static_cast<std::size_t>(tensor)]];
  std::vector<Bucket> leaving;
  for (; next_ < buckets_.size() && missing_[next_] == 0; ++next_) leaving.push_back(buckets_[next_]);
  return leaving;
}

}  // namespace hbench
