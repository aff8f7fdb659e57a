// What the kernels of packing and of codecs do, run on the host: no GPU is needed.

#include <gtest/gtest.h>

#include "collectives/cuda/pack.cuh"
#include "tests/collectives/cuda_compression.hpp"
#include "tests/collectives/cuda_host.hpp"
#include "tests/collectives/cuda_tensors.hpp"
#include "tests/collectives/cuda_twins.hpp"

namespace hbench::cuda_codecs_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

TEST(CudaCodecs, EncodeAndDecodeAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  for_each_codec_and_place([&](const CompressorChoice& choice, std::size_t elements, const CodecPlaces& places) {
    const CodecTwin& twin = twin_of(choice.compressor->name);
    const std::vector<float> floats = hard_floats(elements, random);
    const std::vector<std::byte> right = encoded(choice, floats);
    HostMemory in(places.floats);
    HostMemory wire(places.wire);
    std::ranges::copy(std::as_bytes(std::span(floats)), places.floats.of(in.all()).begin());
    twin.encode(choice, places.floats.of(in.all()).data(), elements, places.wire.of(wire.all()).data());
    ASSERT_TRUE(std::ranges::equal(places.wire.of(wire.all()), right));
    for (const TransferKind kind : {TransferKind::copy, TransferKind::reduce}) {
      std::vector<float> sum = hard_floats(elements, random);
      HostMemory out(places.floats);
      if (kind == TransferKind::reduce)
        std::ranges::copy(std::as_bytes(std::span(sum)), places.floats.of(out.all()).begin());
      choice.codec->decode(right, kind, sum);
      twin.decode(choice, places.wire.of(wire.all()).data(), kind == TransferKind::reduce,
                  places.floats.of(out.all()).data(), elements);
      ASSERT_TRUE(same_elements(DataType::float32, places.floats.of(out.all()), std::as_bytes(std::span(sum))));
      ASSERT_TRUE(places.floats.guarded(out.all()));
    }
    ASSERT_TRUE(places.floats.guarded(in.all()) && places.wire.guarded(wire.all()));
  });
}

/// That the kernels of a compressor encode these floats, and decode them, as the host does.
void expect_as_on_the_host(const char* compressor, const std::vector<float>& floats) {
  const CompressorChoice choice = parse_compressor(compressor);
  const std::vector<std::byte> right = encoded(choice, floats);
  std::vector<std::byte> found(right.size(), kPoison);
  twin_of(compressor).encode(choice, reinterpret_cast<const std::byte*>(floats.data()), floats.size(), found.data());
  ASSERT_TRUE(found == right);
  std::vector<float> decoded(floats.size()), back(floats.size());
  choice.codec->decode(right, TransferKind::copy, decoded);
  twin_of(compressor).decode(choice, right.data(), false, reinterpret_cast<std::byte*>(back.data()), back.size());
  ASSERT_TRUE(same_elements(DataType::float32, std::as_bytes(std::span(back)), std::as_bytes(std::span(decoded))));
}

// Every exponent of a block's largest magnitude, each with mantissas around powers of two: what the scale hangs on.
TEST(CudaCodecs, ScaleBlocksOfEveryMagnitudeAsTheHostDoes) {
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
TEST(CudaCodecs, ScaleSignsAsTheHostDoes) {
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
TEST(CudaCodecs, FindTheEndsOfMessagesAsTheHostDoes) {
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
TEST(CudaCodecs, IgnoresPositionsOutsideOfTheBuffer) {
  const CompressorChoice choice = parse_compressor("topk:0.5");
  std::vector<float> floats{1, 2, 3, 4};
  std::vector<std::byte> wire = encoded(choice, floats);  // 2, and the positions 2 and 3
  constexpr std::uint32_t kOutside = 4;
  std::memcpy(wire.data() + 8, &kOutside, sizeof kOutside);
  const Placed place{0, 16};
  HostMemory out(place);
  twin_of("topk").decode(choice, wire.data(), false, place.of(out.all()).data(), 4);
  std::ranges::copy(place.of(out.all()), std::as_writable_bytes(std::span(floats)).begin());
  EXPECT_EQ(floats, (std::vector<float>{0, 0, 3, 0}));
  EXPECT_TRUE(place.guarded(out.all()));
}

TEST(CudaPacking, CopiesEveryTensorToItsPlaceAndBack) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<Placed> places;
  std::vector<HostMemory> memories;
  std::vector<std::span<std::byte>> tensors;
  std::vector<std::byte> right;
  for (const auto& [bytes, off] : tensor_places()) {
    places.push_back({off, bytes});
    memories.emplace_back(places.back());
    tensors.push_back(places.back().of(memories.back().all()));
    const std::vector<std::byte> given = random_elements(DataType::uint8, bytes, random);
    std::ranges::copy(given, tensors.back().begin());
    right.insert(right.end(), given.begin(), given.end());
  }
  const std::vector<cuda::Piece> pieces = cuda::pieces_of(tensors);
  const Placed place{0, right.size()};
  HostMemory buffer(place);
  const std::span<std::byte> packed = place.of(buffer.all());
  for (const cuda::Piece& piece : pieces)
    for (unsigned thread = 0; thread < cuda::kThreads; ++thread)
      cuda::copy_piece(piece.tensor, packed.data() + piece.offset, piece.bytes, thread);
  ASSERT_TRUE(std::ranges::equal(packed, right));
  ASSERT_TRUE(place.guarded(buffer.all()));
  for (const std::span<std::byte> tensor : tensors) std::ranges::fill(tensor, kPoison);
  for (const cuda::Piece& piece : pieces)
    for (unsigned thread = 0; thread < cuda::kThreads; ++thread)
      cuda::copy_piece(packed.data() + piece.offset, piece.tensor, piece.bytes, thread);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal(tensors[i], std::span(right).subspan(offset, tensors[i].size()))) << i;
    ASSERT_TRUE(places[i].guarded(memories[i].all()));
    offset += tensors[i].size();
  }
}

}  // namespace
}  // namespace hbench::cuda_codecs_test
