#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/levels.hpp"
#include "collectives/compressors/payload.hpp"

// This file is compiled once for each instruction set; the loops are plain, compilers make vectors of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/int8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

constexpr std::size_t kBlock = 256;
constexpr float kLargestCode = 127;
/// Adding it leaves a float's integer part, rounded to nearest even, in its lowest bits.
constexpr float kRounder = 0x1.8p23F;

/// A block's largest magnitude, as bits, in which infinities and NaN are larger than numbers.
std::uint32_t largest_magnitude(const float* in, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(in[i]) & 0x7fff'ffffu);
  return largest;
}

void encode_block(const float* in, std::size_t count, std::byte* codes, std::byte* scale_at) {
  const float scale = block_step(largest_magnitude(in, count), kLargestCode);
  std::memcpy(scale_at, &scale, sizeof scale);
  if (!(scale > 0)) {
    std::memset(codes, 0, count);
    return;
  }
  const float inverse = 1 / scale;
  for (std::size_t i = 0; i < count; ++i)
    codes[i] = static_cast<std::byte>(std::bit_cast<std::uint32_t>(in[i] * inverse + kRounder));
}

void encode_blocks(std::span<const float> in, std::byte* codes, std::byte* scales) {
  for (std::size_t i = 0; i < in.size(); i += kBlock, scales += sizeof(float))
    encode_block(in.data() + i, std::min(kBlock, in.size() - i), codes + i, scales);
}

template <bool kAdd>
void decode_block(const std::byte* codes, float scale, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(static_cast<std::int8_t>(codes[i])) * scale;
    out[i] = kAdd ? out[i] + value : value;
  }
}

void decode_blocks(const std::byte* codes, const std::byte* scales, TransferKind kind, std::span<float> out) {
  const auto decode = kind == TransferKind::reduce ? decode_block<true> : decode_block<false>;
  for (std::size_t i = 0; i < out.size(); i += kBlock, scales += sizeof(float)) {
    float scale;
    std::memcpy(&scale, scales, sizeof scale);
    decode(codes + i, scale, std::min(kBlock, out.size() - i), out.data() + i);
  }
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(encode_blocks);
HWY_EXPORT(decode_blocks);

/// A byte per element, then a float32 scale for every 256 of them.
class Bytes8 final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    constexpr auto kBlock = static_cast<std::int64_t>(HWY_NAMESPACE::kBlock);
    return elements + (elements + kBlock - 1) / kBlock * static_cast<std::int64_t>(sizeof(float));
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    HWY_DYNAMIC_DISPATCH(encode_blocks)(in, out.data(), out.data() + in.size());
    return max_wire_bytes(std::ssize(in));
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    HWY_DYNAMIC_DISPATCH(decode_blocks)(in.data(), in.data() + out.size(), kind, out);
  }
};

}  // namespace

extern constinit const Compressor kInt8{
    .name = "int8",
    .summary = "a signed byte per element, one scale for every 256: the largest of them is 127",
    .citation = "Dettmers, 8-Bit Approximations for Parallelism in Deep Learning, ICLR 2016 (linear variant)",
    .memory_traffic = 1.25,
    .relative_error = -1,
    .relative_l2_error = 0.0069,
    .not_finite = {.what = "its block of 256 becomes NaN", .kept = false, .block = 256},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Bytes8>(); },
};

}  // namespace hbench
#endif
