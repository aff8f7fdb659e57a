// Packing and codecs on a GPU against the host's; skipped, with the reason, where there is none.

#include <gtest/gtest.h>

#include <set>

#include "collectives/base/error.hpp"
#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/pack.hpp"
#include "tests/collectives/cuda_compression.hpp"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/cuda_tensors.hpp"

namespace hbench::cuda_kernels_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

class CudaCodecKernels : public OnGpu {};
class CudaPackKernels : public OnGpu {};

std::span<float> floats_of(GpuMemory& memory) {
  return {reinterpret_cast<float*>(memory.span().data()), memory.span().size() / sizeof(float)};
}

TEST_F(CudaCodecKernels, EncodeAndDecodeAsTheHostDoes) {
  for_each_codec_and_place([&](const CompressorChoice& choice, std::size_t elements, const CodecPlaces& places) {
    const std::shared_ptr<const Codec> codec = find_cuda_codec(choice.compressor->name)->make(*device, choice);
    const std::vector<float> floats = hard_floats(elements, random);
    const std::vector<std::byte> right = encoded(choice, floats);
    GpuMemory in(*device, places.floats);
    GpuMemory wire(*device, places.wire);
    in.put(std::as_bytes(std::span(floats)));
    ASSERT_EQ(codec->encode(floats_of(in), kDraw, wire.span()), std::ssize(right));
    ASSERT_EQ(wire.get(), right);
    for (const TransferKind kind : {TransferKind::copy, TransferKind::reduce}) {
      std::vector<float> sum = hard_floats(elements, random);
      GpuMemory out(*device, places.floats);
      if (kind == TransferKind::reduce) out.put(std::as_bytes(std::span(sum)));
      choice.codec->decode(right, kind, sum);
      codec->decode(wire.span(), kind, floats_of(out));
      ASSERT_TRUE(same_elements(DataType::float32, out.get(), std::as_bytes(std::span(sum))));
    }
  });
}

// More blocks of 256 than all warps of any GPU take in one go.
TEST_F(CudaCodecKernels, WalkOnWhenTheGridIsFull) {
  const std::size_t elements = (16 << 20) + 5;
  const std::vector<float> floats = hard_floats(elements, random);
  for (const CudaCodec* entry : cuda_codecs()) {
    const CompressorChoice choice = parse_compressor(entry->name);
    const std::vector<std::byte> right = encoded(choice, floats);
    GpuMemory in(*device, {0, 4 * elements});
    GpuMemory wire(*device, {0, right.size()});
    in.put(std::as_bytes(std::span(floats)));
    entry->make(*device, choice)->encode(floats_of(in), kDraw, wire.span());
    ASSERT_TRUE(wire.get() == right) << entry->name;
  }
}

// GPUs convert by instructions of their own. Where a half begins, ends, and lies in the middle of two, and next to it.
TEST_F(CudaCodecKernels, ConvertEveryHalfAndWhatLiesAroundIt) {
  const CompressorChoice choice = parse_compressor("fp16");
  const auto codec = find_cuda_codec("fp16")->make(*device, choice);
  std::vector<std::byte> halves(2 << 16);
  for (std::uint32_t half = 0; half < 1 << 16; ++half) std::memcpy(halves.data() + 2 * half, &half, 2);
  std::vector<float> widened(1 << 16);
  choice.codec->decode(halves, TransferKind::copy, widened);
  GpuMemory wire(*device, {0, halves.size()});
  GpuMemory out(*device, {0, 4 * widened.size()});
  wire.put(halves);
  codec->decode(wire.span(), TransferKind::copy, floats_of(out));
  ASSERT_TRUE(same_elements(DataType::float32, out.get(), std::as_bytes(std::span(widened))));
  for (const std::uint32_t distance : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
    std::vector<float> floats(widened);
    for (float& x : floats) x = cuda::same_bits<float>(cuda::same_bits<std::uint32_t>(x) + distance);
    GpuMemory in(*device, {0, 4 * floats.size()});
    in.put(std::as_bytes(std::span(floats)));
    codec->encode(floats_of(in), {}, wire.span());
    ASSERT_EQ(wire.get(), encoded(choice, floats)) << distance;
  }
}

// What is hard for top-k: equal elements, and large ones close together.
TEST_F(CudaCodecKernels, SelectTheFirstOfEqualElementsAndManyInOnePlace) {
  std::normal_distribution<float> normal;
  const auto value = [&](std::string_view kind, std::size_t i) {
    if (kind == "equal") return 1.0F;
    if (kind == "few values") return static_cast<float>(random() % 3) - 1;
    return normal(random) * (kind == "in one place" && i > 100'000 && i < 200'000 ? 100.0F : 1.0F);
  };
  for (const char* kind : {"equal", "few values", "in one place", "normal"})
    for (const char* text : {"topk", "topk:0.00001", "topk:0.4"}) {
      const CompressorChoice choice = parse_compressor(text);
      std::vector<float> floats(3'000'017);
      for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = value(kind, i);
      const std::vector<std::byte> right = encoded(choice, floats);
      GpuMemory in(*device, {0, 4 * floats.size()});
      GpuMemory wire(*device, {0, right.size()});
      in.put(std::as_bytes(std::span(floats)));
      const auto codec = find_cuda_codec("topk")->make(*device, choice);
      for (int again = 0; again < 2; ++again) {
        codec->encode(floats_of(in), kDraw, wire.span());
        ASSERT_TRUE(wire.get() == right) << kind << ", " << text;
      }
    }
}

TEST_F(CudaPackKernels, CopyEveryTensorToItsPlaceAndBack) {
  std::vector<std::unique_ptr<GpuMemory>> memories;
  std::vector<std::span<std::byte>> spans;
  std::vector<std::byte> right;
  for (const auto& [bytes, off] : tensor_places()) {
    memories.push_back(std::make_unique<GpuMemory>(*device, Placed{off, bytes}));
    spans.push_back(memories.back()->span());
    const std::vector<std::byte> given = random_elements(DataType::uint8, bytes, random);
    memories.back()->put(given);
    right.insert(right.end(), given.begin(), given.end());
  }
  const CudaTensors tensors = cuda_tensors(*device, spans);
  ASSERT_EQ(tensors.bytes, right.size());
  GpuMemory buffer(*device, {0, right.size()});
  cuda_pack(*device, tensors, buffer.span());
  ASSERT_TRUE(buffer.get() == right);
  for (const auto& memory : memories) memory->put(std::vector<std::byte>(memory->span().size(), kPoison));
  cuda_unpack(*device, buffer.span(), tensors);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const std::vector<std::byte> found = memories[i]->get();
    ASSERT_TRUE(std::ranges::equal(found, std::span(right).subspan(offset, found.size()))) << "tensor " << i;
    offset += found.size();
  }
}

TEST_F(CudaPackKernels, DoNothingForNoTensors) {
  const CudaTensors tensors = cuda_tensors(*device, {});
  EXPECT_EQ(tensors.bytes, 0U);
  cuda_pack(*device, tensors, {});
  cuda_unpack(*device, {}, tensors);
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

}  // namespace
}  // namespace hbench::cuda_kernels_test
