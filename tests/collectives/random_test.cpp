#include "collectives/compressors/random.hpp"

#include <array>
#include <set>

#include "tests/collectives/codecs.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::random_test {
namespace {

std::vector<std::uint32_t> drawn(const RandomKey& key, std::int64_t first, std::size_t count) {
  std::vector<std::uint32_t> bits(count);
  random_bits(key, first, bits);
  return bits;
}

/// From the published constants of both hashes, worked out by a separate program (Python).
TEST(RandomBits, StayWhatTheyAre) {
  EXPECT_EQ(mixed(0), 0xe220'a839'7b1d'cdafU);  // SplitMix64's first number of seed 0
  EXPECT_THAT(drawn(key_of({}), 0, 3), ElementsAre(0x3eba98f8U, 0x91ef1b36U, 0xc7290a0cU));
  const Draw draw{.seed = 7, .rank = 3, .step = 9, .offset = 0xffff'ffff};
  EXPECT_THAT(drawn(key_of(draw), 0, 2), ElementsAre(0x721836e8U, 0xebea9e3dU));
}

TEST(RandomBits, DependOnThePositionAlone) {
  for (const std::uint64_t offset : {std::uint64_t{0}, (std::uint64_t{1} << 32) - 700, (std::uint64_t{5} << 32) - 3}) {
    const RandomKey key{42, offset};
    const std::vector<std::uint32_t> all = drawn(key, 0, 2000);
    for (const std::size_t first : {1, 2, 699, 700, 701, 1999})
      EXPECT_EQ(drawn(key, static_cast<std::int64_t>(first), 1).front(), all[first]);
    EXPECT_EQ(drawn({42, offset + 10}, 0, 1).front(), all[10]);
  }
}

TEST(RandomBits, AreTheSameWithEveryInstructionSet) {
  std::set<std::vector<std::uint32_t>> different;
  support::on_every_target([&](const std::string&) { different.insert(drawn({9, 9}, 3, 1037)); });
  EXPECT_EQ(different.size(), 1u);
}

TEST(RandomBits, DifferForEveryPartOfADraw) {
  std::set<std::uint64_t> keys;
  int draws = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 2ULL, 1ULL << 32, 1ULL << 63})
    for (std::int32_t rank = 0; rank < 64; ++rank)
      for (std::int32_t step = 0; step < 64; ++step, ++draws)
        keys.insert(key_of({.seed = seed, .rank = rank, .step = step}).key);
  EXPECT_EQ(std::ssize(keys), draws);
  EXPECT_EQ(shared_key_of({.rank = 1}).key, shared_key_of({.rank = 2}).key);
}

/// chi^2 of 256 boxes has mean 255 and deviation 22.6: 6 deviations are exceeded once in 10^9. For every byte of the
/// numbers, and for pairs of neighbours, of steps and of ranks.
TEST(RandomBits, FillBoxesEvenly) {
  constexpr std::size_t kCount = 1 << 18;
  const std::vector<std::uint32_t> here = drawn(key_of({}), 0, kCount + 1);
  const std::vector<std::uint32_t> later = drawn(key_of({.step = 1}), 0, kCount);
  const std::vector<std::uint32_t> elsewhere = drawn(key_of({.rank = 1}), 0, kCount);
  const auto chi_square = [&](auto box) {
    std::array<double, 256> counts{};
    for (std::size_t i = 0; i < kCount; ++i) ++counts[box(i)];
    double sum = 0;
    for (const double count : counts) sum += (count - kCount / 256.0) * (count - kCount / 256.0) / (kCount / 256.0);
    return sum;
  };
  constexpr double kMost = 255 + 6 * 22.6;
  for (const unsigned shift : {0, 8, 16, 24})
    EXPECT_LT(chi_square([&](std::size_t i) { return here[i] >> shift & 255; }), kMost);
  const auto pair = [](std::uint32_t a, std::uint32_t b) { return (a >> 28) << 4 | b >> 28; };
  EXPECT_LT(chi_square([&](std::size_t i) { return pair(here[i], here[i + 1]); }), kMost);
  EXPECT_LT(chi_square([&](std::size_t i) { return pair(here[i], later[i]); }), kMost);
  EXPECT_LT(chi_square([&](std::size_t i) { return pair(here[i], elsewhere[i]); }), kMost);
}

}  // namespace
}  // namespace hbench::random_test
