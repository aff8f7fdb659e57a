#include "collectives/schedule.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {

ElementRange Schedule::range(int first, int count, std::int64_t elements) const {
  if (!offsets.empty()) {
    if (elements != offsets.back()) throw std::logic_error("schedule is for another element count");
    return {offsets[static_cast<std::size_t>(first)], offsets[static_cast<std::size_t>(first + count)]};
  }
  const std::int64_t share = elements / chunks;
  const std::int64_t longer = elements % chunks;
  const auto begin_of = [&](std::int64_t chunk) { return chunk * share + std::min(chunk, longer); };
  return {begin_of(first), begin_of(first + count)};
}

}  // namespace hbench
