#include "collectives/compressors/random.hpp"

#include <algorithm>

// This file is compiled once for each instruction set; the loop is plain, compilers make vectors of it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

/// lowbias32.
std::uint32_t mixed32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb'352d;
  x = (x ^ (x >> 15)) * 0x846c'a68b;
  return x ^ (x >> 16);
}

/// For positions that share their upper 32 bits, which are part of `key`.
void fill(std::uint64_t key, std::uint32_t first, std::span<std::uint32_t> bits) {
  const auto before = static_cast<std::uint32_t>(key);
  const auto between = static_cast<std::uint32_t>(key >> 32);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint32_t at = first + static_cast<std::uint32_t>(i);
    bits[i] = mixed32(mixed32(at ^ before) + between);
  }
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {

HWY_EXPORT(fill);

void random_bits(const RandomKey& key, std::int64_t first, std::span<std::uint32_t> bits) {
  std::uint64_t at = key.offset + static_cast<std::uint64_t>(first);
  while (!bits.empty()) {
    const std::uint64_t left = (std::uint64_t{1} << 32) - static_cast<std::uint32_t>(at);
    const std::size_t count = std::min<std::uint64_t>(left, bits.size());
    HWY_DYNAMIC_DISPATCH(fill)(mixed(key.key ^ (at >> 32)), static_cast<std::uint32_t>(at), bits.first(count));
    bits = bits.subspan(count);
    at += count;
  }
}

}  // namespace hbench
#endif
