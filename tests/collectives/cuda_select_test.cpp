// What the kernels of top-k do, run on the host, where data are as hard as they get. See also `cuda_codecs_test.cpp`.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "collectives/compressors/select.hpp"
#include "tests/collectives/cuda_select_host.hpp"

namespace hbench::cuda_select_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

class CudaSelect : public ::testing::Test {
 protected:
  /// Selects, and compares with the host.
  SelectPath select(const std::vector<float>& floats, std::size_t wanted, std::optional<std::uint32_t> least = {}) {
    const auto bytes = static_cast<std::size_t>(sparse_bytes(static_cast<std::int64_t>(wanted)));
    std::vector<std::byte> right(bytes);
    encode_sparse(floats, largest_elements(floats, static_cast<std::int64_t>(wanted)), right);
    std::vector<std::byte> found(bytes, std::byte{0xa5});
    const auto* const in = reinterpret_cast<const std::byte*>(floats.data());
    const SelectPath path = select_on_host(in, floats.size(), wanted, found.data(), least);
    EXPECT_TRUE(found == right) << wanted << " of " << floats.size();
    return path;
  }

  std::vector<float> normal(std::size_t elements) {
    std::normal_distribution<float> distribution;
    std::vector<float> floats(elements);
    for (float& x : floats) x = distribution(random);
    return floats;
  }

  std::mt19937_64 random{std::random_device{}()};
};

TEST_F(CudaSelect, NeedsNothingButListsWhereDataAreNormal) {
  const std::vector<float> floats = normal(500'003);
  for (const std::size_t wanted : {50u, 500u, 5001u, 50'000u}) {
    const SelectPath path = select(floats, wanted);
    EXPECT_EQ(path.listed, path.tiles) << wanted;
  }
}

TEST_F(CudaSelect, ReadsTilesAgainWhoseCandidatesAreTooMany) {
  std::vector<float> floats = normal(100'000);
  for (std::size_t i = 20'000; i < 30'000; ++i) floats[i] *= 100;
  const SelectPath path = select(floats, 1000);
  EXPECT_GT(path.listed, 0U);
  // 20'000 ... 29'999 fill tiles 5 and 6 of 4096, and part of 4 and 7.
  EXPECT_LE(path.listed, path.tiles - 2);
}

TEST_F(CudaSelect, IsRightHoweverWrongItsGuess) {
  const std::vector<float> floats = normal(50'000);
  EXPECT_EQ(select(floats, 500, 0x7f00'0000).listed, 0U) << "none reach it, and everything is read again";
  EXPECT_EQ(select(floats, 500, 0).listed, 0U) << "all do, and no list is long enough";
}

TEST_F(CudaSelect, TakesTheFirstOfEqualOnes) {
  std::vector<float> floats(30'000);
  for (const std::size_t wanted : {1u, 300u, 29'999u, 30'000u}) select(floats, wanted);
  for (float& x : floats) x = static_cast<float>(random() % 3) - 1;  // 0 and 1 of both signs
  for (const std::size_t wanted : {1u, 300u, 19'000u, 25'000u, 30'000u}) select(floats, wanted);
}

TEST_F(CudaSelect, TakesNanAndInfinitiesFirst) {
  std::vector<float> floats = normal(30'000);
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t nan = 0x7f80'0000u | static_cast<std::uint32_t>(random()) >> 1;
    std::memcpy(&floats[random() % floats.size()], &nan, sizeof nan);
    floats[random() % floats.size()] = -std::numeric_limits<float>::infinity();
  }
  for (const std::size_t wanted : {1u, 50u, 150u, 300u, 15'000u}) select(floats, wanted);
}

// Differences in the last digit only, then in the middle one.
TEST_F(CudaSelect, TellsCloseMagnitudesApart) {
  std::vector<float> floats(30'000);
  for (const std::uint32_t mask : {0x1ffu, 0x7ffffu}) {
    for (float& x : floats) {
      const std::uint32_t bits = 0x3f80'0000u | (static_cast<std::uint32_t>(random()) & (mask | 0x8000'0000u));
      std::memcpy(&x, &bits, sizeof bits);
    }
    for (const std::size_t wanted : {1u, 300u, 15'000u, 29'999u}) select(floats, wanted);
  }
}

TEST_F(CudaSelect, IsRightForEverySmallSize) {
  for (std::size_t elements = 1; elements < 40; ++elements) {
    const std::vector<float> floats = normal(elements);
    for (std::size_t wanted = 1; wanted <= elements; ++wanted) select(floats, wanted);
  }
}

}  // namespace
}  // namespace hbench::cuda_select_test
