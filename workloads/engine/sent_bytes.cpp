#include "workloads/engine/sent_bytes.hpp"

namespace hbench {

Moved SentBytes::so_far() const {
  const ByteCounts& counts = endpoint_.byte_counts();
  const Rank own = endpoint_.transport().rank();
  const auto node = [&](Rank rank) {
    return request_.node_of_rank.empty() ? 0 : request_.node_of_rank[static_cast<std::size_t>(rank)];
  };
  Moved moved;
  for (Rank rank = 0; rank < request_.world.ranks(); ++rank) {
    const std::int64_t bytes = counts.sent_to(rank) + counts.fetched_from(rank);
    (node(rank) == node(own) ? moved.within : moved.between) += static_cast<double>(bytes);
  }
  return moved;
}

std::optional<Moved> SentBytes::per_iteration() const {
  if (iterations_ == 0 || request_.strategy.algorithm.is_vendor()) return std::nullopt;
  return sum_ * (1.0 / iterations_);
}

}  // namespace hbench
