#include "collectives/schedule/schedule.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {
namespace {

/// The first element of `chunk` in an even split: the first chunks are one element longer.
std::int64_t even_offset(std::int64_t chunk, int chunks, std::int64_t elements) {
  return chunk * (elements / chunks) + std::min(chunk, elements % chunks);
}

}  // namespace

ElementRange Schedule::range(int first, int count, std::int64_t elements) const {
  if (!offsets.empty()) {
    if (elements != offsets.back()) throw std::logic_error("schedule is for another element count");
    return {offsets[static_cast<std::size_t>(first)], offsets[static_cast<std::size_t>(first + count)]};
  }
  return {even_offset(first, chunks, elements), even_offset(first + count, chunks, elements)};
}

std::vector<std::int64_t> even_offsets(int chunks, std::int64_t elements) {
  std::vector<std::int64_t> offsets;
  for (int chunk = 0; chunk <= chunks; ++chunk) offsets.push_back(even_offset(chunk, chunks, elements));
  return offsets;
}

}  // namespace hbench
