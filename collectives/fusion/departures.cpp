#include "collectives/fusion/departures.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {
namespace {

/// Also an empty tensor leaves once only.
constexpr std::int64_t kGone = -1;

}  // namespace

Departures::Departures(std::vector<std::int64_t> tensor_bytes) : tensor_bytes_(std::move(tensor_bytes)) {
  begin_step();
}

void Departures::begin_step() {
  left_ = tensor_bytes_;
  missing_ = tensor_bytes_.size();
}

void Departures::leave(const Bucket& bucket) {
  for (const int tensor : bucket.tensors) {
    const std::int64_t size = tensor_bytes_.at(static_cast<std::size_t>(tensor));
    leave(tensor, bucket.whole() ? size : bucket.end - bucket.begin);
  }
}

void Departures::leave(int tensor, std::int64_t bytes) {
  std::int64_t& left = left_[static_cast<std::size_t>(tensor)];
  if (left < bytes) throw std::logic_error("a gradient leaves twice in one step");
  left -= bytes;
  if (left > 0) return;
  left = kGone;
  --missing_;
}

std::vector<Shard> shards_of(const Bucket& bucket, std::span<const std::vector<Shard>> by_tensor) {
  const std::int64_t begin = bucket.begin / static_cast<std::int64_t>(sizeof(float));
  const std::int64_t end = bucket.whole() ? Bucket::kEnd : bucket.end / static_cast<std::int64_t>(sizeof(float));
  std::vector<Shard> shards;
  for (const int tensor : bucket.tensors) {
    std::int64_t at = 0;
    for (const Shard& shard : by_tensor[static_cast<std::size_t>(tensor)]) {
      const std::int64_t elements = std::min(at + shard.elements, end) - std::max(at, begin);
      if (elements > 0) shards.push_back({shard.server, elements});
      at += shard.elements;
    }
  }
  return shards;
}

}  // namespace hbench
