#pragma once

/// Random numbers that depend on nothing but a `Draw` and an element's position: the same on every machine, in any
/// order, by any number of threads.
///
/// Each number is a hash of its position under a key. Two rounds of `lowbias32` (C. Wellons, Prospecting for hash
/// functions, 2018, nullprogram.com), a key of 32 bits before either; the keys come out of SplitMix64's finaliser
/// (Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). 32-bit multiplications only:
/// those are what vectors have. Good enough for rounding, not for secrets.

#include <cstdint>
#include <span>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

/// SplitMix64's finaliser: every bit of the result depends on every bit of `x`.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

/// What a draw comes down to.
struct RandomKey {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;
};

/// The same on all ranks.
constexpr RandomKey shared_key_of(const Draw& draw) {
  const std::uint64_t step = mixed(draw.seed) ^ static_cast<std::uint32_t>(draw.step);
  return {mixed(step), static_cast<std::uint64_t>(draw.offset)};
}

/// Different for every seed, rank and step.
constexpr RandomKey key_of(const Draw& draw) {
  const RandomKey shared = shared_key_of(draw);
  return {mixed(shared.key ^ (static_cast<std::uint64_t>(draw.rank) + 1)), shared.offset};
}

/// 32 random bits for each of the elements `first`, `first` + 1, ... of what was drawn.
void random_bits(const RandomKey& key, std::int64_t first, std::span<std::uint32_t> bits);

}  // namespace hbench
