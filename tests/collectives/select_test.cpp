#include "collectives/compressors/select.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "collectives/compressors/random.hpp"
#include "tests/collectives/codecs.hpp"

namespace hbench::select_test {
namespace {

using support::gaussian;

/// By sorting everything.
std::vector<std::uint32_t> sorted_choice(const std::vector<float>& values, std::int64_t count) {
  std::vector<std::uint32_t> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0u);
  const auto magnitude = [&](std::uint32_t i) { return std::bit_cast<std::uint32_t>(values[i]) & kMagnitudeMask; };
  std::ranges::stable_sort(positions, std::greater(), magnitude);
  positions.resize(static_cast<std::size_t>(count));
  std::ranges::sort(positions);
  return positions;
}

std::vector<float> few_values(std::size_t count) {
  std::vector<float> values = gaussian(count);
  for (float& x : values) x = std::round(x);
  return values;
}

std::vector<float> sorted(std::vector<float> values) {
  std::ranges::sort(values);
  return values;
}

/// A tenth of a percent is a million times as large as the rest, all in one place: samples say little.
std::vector<float> clustered(std::size_t count) {
  std::vector<float> values = gaussian(count);
  for (std::size_t i = count / 2; i < count / 2 + count / 1000; ++i) values[i] *= 1e6F;
  return values;
}

/// Exact whatever the distribution, sampled (from 65537 on) or sorted; ties go to the first.
TEST(LargestElements, AreThoseThatSortingGives) {
  for (const std::size_t size : {1, 2, 100, 65'536, 65'537, 200'003}) {
    for (const auto& values : {gaussian(size), few_values(size), std::vector(size, 1.0F), std::vector(size, 0.0F),
                               sorted(gaussian(size)), clustered(size), support::random_patterns(size)}) {
      for (const double share : {0.0, 1e-5, 0.001, 0.01, 0.2, 0.3, 0.99, 1.0}) {
        const auto count = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(size)));
        ASSERT_EQ(largest_elements(values, count), sorted_choice(values, count)) << size << ' ' << count;
      }
    }
  }
}

// A sample of 65,536 elements, one of each as long a part of the buffer, picked by the random numbers of its number;
// they are all large and everything else is small. 2000 of 200,003 are wanted, of which the sample has 656 by
// expectation: the threshold that some 760 of the sample reach is reached by nothing else.
TEST(LargestElements, AreFoundWhereOnlyTheSampleIsLarge) {
  constexpr std::size_t kSize = 200'003, kSampled = 1 << 16;
  std::vector<std::uint32_t> random(kSampled);
  random_bits({}, 0, random);
  std::vector<float> values = gaussian(kSize);
  for (std::size_t i = 0; i < kSampled; ++i) {
    const std::size_t begin = kSize * i / kSampled;
    const std::size_t width = kSize * (i + 1) / kSampled - begin;
    values[begin + (width * random[i] >> 32)] *= 1e6F;
  }
  EXPECT_EQ(largest_elements(values, 2000), sorted_choice(values, 2000));
}

TEST(LargestElements, AreTheSameWithEveryInstructionSet) {
  const std::vector<float> values = gaussian(200'003);
  const std::vector<std::uint32_t> expected = sorted_choice(values, 2001);
  support::on_every_target(
      [&](const std::string& target) { EXPECT_EQ(largest_elements(values, 2001), expected) << target; });
}

TEST(Collect, FindsWhatReachesTheThreshold) {
  const std::vector<float> values = gaussian(5003);
  const auto least = std::bit_cast<std::uint32_t>(1.0F);
  support::on_every_target([&](const std::string& target) {
    std::vector<std::uint32_t> positions(values.size() + kCollectSlack);
    positions.resize(collect(values, least, 7, positions));
    std::size_t found = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) < 1.0F) continue;
      ASSERT_EQ(positions.at(found++), i + 7) << target;
    }
    EXPECT_EQ(positions.size(), found) << target;
  });
}

TEST(Collect, StopsWhenThereAreTooMany) {
  const std::vector<float> values(50'000, 1.0F);
  std::vector<std::uint32_t> positions(100 + kCollectSlack);
  EXPECT_GT(collect(values, 1, 0, positions), 100u);
}

}  // namespace
}  // namespace hbench::select_test
