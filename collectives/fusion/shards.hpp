#pragma once

#include <span>
#include <vector>

#include "collectives/fusion/fusion.hpp"
#include "collectives/placement/placement.hpp"

namespace hbench {

/// Which servers hold what of a bucket, in its order; `by_tensor` is what `Placement::place` gave.
std::vector<Shard> shards_of(const Bucket& bucket, std::span<const std::vector<Shard>> by_tensor);

}  // namespace hbench
