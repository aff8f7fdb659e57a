// Kernels where only a GPU has enough threads, and the table of its codecs; skipped, with the reason, where there is no
// GPU.

#include <gtest/gtest.h>

#include <set>

#include "collectives/base/error.hpp"
#include "collectives/cuda/codecs.hpp"
#include "tests/collectives/cuda_compression.hpp"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/cuda_factors.hpp"

namespace hbench::cuda_gpu_kernels_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

class GpuKernels : public OnGpu {};

// More blocks of 256 than all warps of any GPU take in one go.
TEST_F(GpuKernels, EncodeOnWhenTheGridIsFull) {
  const std::size_t elements = emulated_share(64, 16 << 20) + 5;
  const std::vector<float> floats = hard_floats(elements, random);
  for (const CudaCodec* entry : cuda_codecs()) {
    const CompressorChoice choice = parse_compressor(entry->name);
    const std::vector<std::byte> right = encoded(choice, floats);
    GuardedMemory in(*device, {0, 4 * elements});
    GuardedMemory wire(*device, {0, right.size()});
    in.put(std::as_bytes(std::span(floats)));
    entry->make(*device, choice)->encode(in.floats(), kDraw, wire.span());
    ASSERT_TRUE(wire.get() == right) << entry->name;
  }
}

// GPUs convert by instructions of their own. Where a half begins, ends, and lies in the middle of two, and next to it.
TEST_F(GpuKernels, ConvertEveryHalfAndWhatLiesAroundIt) {
  const CompressorChoice choice = parse_compressor("fp16");
  const auto codec = find_cuda_codec("fp16")->make(*device, choice);
  std::vector<std::byte> halves(2 << 16);
  for (std::uint32_t half = 0; half < 1 << 16; ++half) std::memcpy(halves.data() + 2 * half, &half, 2);
  std::vector<float> widened(1 << 16);
  choice.codec->decode(halves, TransferKind::copy, widened);
  GuardedMemory wire(*device, {0, halves.size()});
  GuardedMemory out(*device, {0, 4 * widened.size()});
  wire.put(halves);
  codec->decode(wire.span(), TransferKind::copy, out.floats());
  ASSERT_TRUE(same_elements(DataType::float32, out.get(), std::as_bytes(std::span(widened))));
  for (const std::uint32_t distance : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
    std::vector<float> floats(widened);
    for (float& x : floats) x = cuda::same_bits<float>(cuda::same_bits<std::uint32_t>(x) + distance);
    GuardedMemory in(*device, {0, 4 * floats.size()});
    in.put(std::as_bytes(std::span(floats)));
    codec->encode(in.floats(), {}, wire.span());
    ASSERT_EQ(wire.get(), encoded(choice, floats)) << distance;
  }
}

// What is hard for top-k: equal elements, and large ones close together.
TEST_F(GpuKernels, SelectTheFirstOfEqualElementsAndManyInOnePlace) {
  std::normal_distribution<float> normal;
  const std::size_t elements = emulated_share(32, 3'000'017);
  const auto value = [&](std::string_view kind, std::size_t i) {
    if (kind == "equal") return 1.0F;
    if (kind == "few values") return static_cast<float>(random() % 3) - 1;
    return normal(random) * (kind == "in one place" && i > elements / 30 && i < elements / 15 ? 100.0F : 1.0F);
  };
  for (const char* kind : {"equal", "few values", "in one place", "normal"})
    for (const char* text : {"topk", "topk:0.00001", "topk:0.4"}) {
      const CompressorChoice choice = parse_compressor(text);
      std::vector<float> floats(elements);
      for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = value(kind, i);
      const std::vector<std::byte> right = encoded(choice, floats);
      GuardedMemory in(*device, {0, 4 * floats.size()});
      GuardedMemory wire(*device, {0, right.size()});
      in.put(std::as_bytes(std::span(floats)));
      const auto codec = find_cuda_codec("topk")->make(*device, choice);
      for (int again = 0; again < 2; ++again) {
        codec->encode(in.floats(), kDraw, wire.span());
        ASSERT_TRUE(wire.get() == right) << kind << ", " << text;
      }
    }
}

TEST_F(GpuKernels, MultiplyToTheSameBitsEveryTime) {
  const LowRankShape shape = low_rank_shape(static_cast<std::int64_t>(emulated_share(16, 1'000'003)), 4);
  const std::vector<float> matrix_values = normal_floats(shape.elements, random);
  GuardedMemory matrix(*device, {4, std::as_bytes(std::span(matrix_values)).size()});
  matrix.put(std::as_bytes(std::span(matrix_values)));
  const std::vector<float> right_values = normal_floats(shape.right_elements(), random);
  GuardedMemory right(*device, {4, std::as_bytes(std::span(right_values)).size()});
  right.put(std::as_bytes(std::span(right_values)));
  std::vector<std::byte> first[2];
  for (int again = 0; again < 5; ++again) {
    const auto products = make_cuda_low_rank_products(*device);
    GuardedMemory left(*device, {4, sizeof(float) * static_cast<std::size_t>(shape.left_elements())});
    GuardedMemory next(*device, {4, sizeof(float) * static_cast<std::size_t>(shape.right_elements())});
    products->multiply(shape, matrix.floats(), right.floats(), left.floats());
    products->orthonormalise(shape.rows, left.floats());
    products->multiply_transposed(shape, matrix.floats(), left.floats(), next.floats());
    if (again == 0) {
      first[0] = left.get();
      first[1] = next.get();
    }
    EXPECT_EQ(left.get(), first[0]);
    EXPECT_EQ(next.get(), first[1]);
  }
}

// These need no GPU.
TEST(CudaCodecTable, NamesCompressors) {
  for (const CudaCodec* codec : cuda_codecs()) {
    EXPECT_EQ(parse_compressor(codec->name).compressor->name, codec->name);
    EXPECT_EQ(find_cuda_codec(codec->name), codec);
  }
  EXPECT_EQ(find_cuda_codec("natural"), nullptr);
}

TEST(CudaCodecTable, IsTestedWhole) {
  std::set<std::string_view> tested;
  for (const char* text : kGpuCompressors) tested.insert(parse_compressor(text).compressor->name);
  EXPECT_EQ(tested.size(), cuda_codecs().size());
  for (const std::string_view name : tested) EXPECT_NE(find_cuda_codec(name), nullptr) << name;
}

TEST(CudaCodecTable, RefusesHostMemory) {
  for (const CudaCodec* codec : cuda_codecs())
    EXPECT_THROW(codec->make(host_device(), parse_compressor(codec->name)), Error) << codec->name;
}

TEST(CudaProductsOfTheHost, AreRefused) { EXPECT_THROW(make_cuda_low_rank_products(host_device()), Error); }

}  // namespace
}  // namespace hbench::cuda_gpu_kernels_test
