#include "collectives/fusion/shards.hpp"

#include <algorithm>

namespace hbench {

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
