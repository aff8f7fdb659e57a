#include "collectives/fusion/optimal_merge.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// The best way to reduce the gradients up to one of them.
struct Prefix {
  double finish = 0;
  std::size_t runs = 0;
  std::size_t last = 0;  ///< length of the last run

  /// Sooner; at equal times the fewer all-reduces.
  bool better_than(const Prefix& other) const {
    return finish != other.finish ? finish < other.finish : runs < other.runs;
  }
};

}  // namespace

std::vector<std::size_t> optimal_merge(std::span<const ReadyGradient> gradients, const ReduceTime& cost) {
  // The end of a run grows with the end of what was before it, so the best beginning is part of the best whole.
  std::vector<Prefix> best(gradients.size() + 1);
  for (std::size_t end = 1; end <= gradients.size(); ++end) {
    std::int64_t bytes = 0;
    for (std::size_t run = 1; run <= end; ++run) {
      bytes += gradients[end - run].bytes;
      const Prefix& before = best[end - run];
      const double start = std::max(before.finish, gradients[end - 1].at.value);
      const Prefix candidate{start + cost.of(bytes).value, before.runs + 1, run};
      if (run == 1 || candidate.better_than(best[end])) best[end] = candidate;
    }
  }
  std::vector<std::size_t> runs;
  for (std::size_t end = gradients.size(); end > 0; end -= best[end].last) runs.push_back(best[end].last);
  std::ranges::reverse(runs);
  return runs;
}

}  // namespace hbench
