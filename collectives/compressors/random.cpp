#include "collectives/compressors/random.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// lowbias32.
inline std::uint32_t mixed32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb'352d;
  x = (x ^ (x >> 15)) * 0x846c'a68b;
  return x ^ (x >> 16);
}

/// Positions that share their upper 32 bits.
void fill(std::uint64_t key, std::uint32_t first, std::span<std::uint32_t> bits) {
  const auto before = static_cast<std::uint32_t>(key);
  const auto between = static_cast<std::uint32_t>(key >> 32);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint32_t at = first + static_cast<std::uint32_t>(i);
    bits[i] = mixed32(mixed32(at ^ before) + between);
  }
}

}  // namespace

RandomKey shared_key_of(const Draw& draw) {
  const std::uint64_t step = mixed(draw.seed) ^ static_cast<std::uint32_t>(draw.step);
  return {mixed(step), static_cast<std::uint64_t>(draw.offset)};
}

RandomKey key_of(const Draw& draw) {
  const RandomKey shared = shared_key_of(draw);
  return {mixed(shared.key ^ (static_cast<std::uint64_t>(draw.rank) + 1)), shared.offset};
}

void random_bits(const RandomKey& key, std::int64_t first, std::span<std::uint32_t> bits) {
  std::uint64_t at = key.offset + static_cast<std::uint64_t>(first);
  while (!bits.empty()) {
    const std::uint64_t left = (std::uint64_t{1} << 32) - static_cast<std::uint32_t>(at);
    const std::size_t count = std::min<std::uint64_t>(left, bits.size());
    fill(mixed(key.key ^ (at >> 32)), static_cast<std::uint32_t>(at), bits.first(count));
    bits = bits.subspan(count);
    at += count;
  }
}

}  // namespace hbench
