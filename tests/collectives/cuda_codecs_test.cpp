// What is hard for the kernels of codecs, run on the host: no GPU is needed.

#include <gtest/gtest.h>

#include "tests/collectives/cuda_compression.hpp"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/cuda_twin_device.hpp"

namespace hbench::cuda_codecs_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

/// That the kernels of a compressor encode these floats, and decode them, as the host does.
void expect_as_on_the_host(const char* compressor, const std::vector<float>& floats) {
  const CompressorChoice choice = parse_compressor(compressor);
  const auto twin = make_twin_device()->codec_of(choice);
  const std::vector<std::byte> right = encoded(choice, floats);
  std::vector<std::byte> found(right.size(), kPoison);
  twin->encode(floats, kDraw, found);
  ASSERT_TRUE(found == right);
  std::vector<float> decoded(floats.size()), back(floats.size());
  choice.codec->decode(right, TransferKind::copy, decoded);
  twin->decode(right, TransferKind::copy, back);
  ASSERT_TRUE(same_elements(DataType::float32, std::as_bytes(std::span(back)), std::as_bytes(std::span(decoded))));
}

// Every exponent of a block's largest magnitude, each with mantissas around powers of two: what the scale hangs on.
TEST(CudaCodecTwins, ScaleBlocksOfEveryMagnitudeAsTheHostDoes) {
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
    for (const std::uint32_t mantissa : {0x0u, 0x1u, 0x7f0000u, 0x7effffu, 0x7e0000u, 0x7fffffu}) {
      std::vector<float> floats(256);
      floats[77] = cuda::same_bits<float>(exponent << 23 | mantissa);
      floats[78] = floats[77] / 3;
      SCOPED_TRACE(::testing::Message() << exponent << ", " << mantissa);
      for (const char* compressor : {"int8", "int4"}) expect_as_on_the_host(compressor, floats);
    }
}

// Finite numbers, since one NaN would be all that a scale says; some that float32 cannot add up; more pieces of 4096
// than there are adders.
TEST(CudaCodecTwins, ScaleSignsAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  std::normal_distribution<float> normal;
  for (const char* compressor : {"sign", "onebit"})
    for (const std::size_t elements : {1, 15, 16, 17, 2047, 2048, 2049, 4095, 4096, 4113, 65'537, 1'100'003})
      for (const float magnitude : {1e-30F, 1.0F, 1e30F, 3e37F}) {
        SCOPED_TRACE(::testing::Message() << compressor << ", " << elements << " of magnitude " << magnitude);
        std::vector<float> floats(elements);
        for (float& x : floats) x = normal(random) * magnitude;
        expect_as_on_the_host(compressor, floats);
      }
}

// Ranges of few floats, which codes count, and of many, around zero and far from it; the smallest and the largest.
TEST(CudaCodecTwins, FindTheEndsOfMessagesAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  std::normal_distribution<float> normal;
  for (const std::size_t elements : {1, 3, 4, 257, 4099, 65'537})
    for (const float mean : {0.0F, 1.0F, -1024.0F, 1e37F, -1e-40F})
      for (const float deviation : {0.0F, 1e-8F, 3e-6F, 1e-2F, 1.0F}) {
        SCOPED_TRACE(::testing::Message() << elements << " around " << mean << " by " << deviation);
        std::vector<float> floats(elements);
        for (float& x : floats) x = mean + normal(random) * deviation * (mean == 0 ? 1 : std::abs(mean));
        expect_as_on_the_host("minmax8", floats);
      }
}

// What no encoder wrote may come over a network.
TEST(CudaCodecTwins, IgnoresPositionsOutsideOfTheBuffer) {
  const CompressorChoice choice = parse_compressor("topk:0.5");
  std::vector<float> floats{1, 2, 3, 4};
  std::vector<std::byte> wire = encoded(choice, floats);  // 2, and the positions 2 and 3
  constexpr std::uint32_t kOutside = 4;
  std::memcpy(wire.data() + 8, &kOutside, sizeof kOutside);
  const auto twins = make_twin_device();
  GuardedMemory out(*twins, {0, 16});
  twins->codec_of(choice)->decode(wire, TransferKind::copy, out.floats());
  std::ranges::copy(out.get(), std::as_writable_bytes(std::span(floats)).begin());
  EXPECT_EQ(floats, (std::vector<float>{0, 0, 3, 0}));
}

}  // namespace
}  // namespace hbench::cuda_codecs_test
