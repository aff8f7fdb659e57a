#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/levels.hpp"
#include "collectives/compressors/payload.hpp"

// This file is compiled once for each instruction set; the loops are plain, compilers make vectors of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/int4.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

constexpr std::size_t kBlock = 256;
constexpr int kLevels = 7;

/// Levels counted from the lowest one, two to a byte, as `decode_levels` reads them. \pre at most a block
void encode_block(std::span<const float> in, float inverse, std::byte* out) {
  /// Adding it leaves a float's integer part, rounded to nearest even, in its lowest bits.
  constexpr float kRounder = 0x1.8p23F;
  std::array<std::uint8_t, kBlock> codes{};
  for (std::size_t i = 0; i < in.size(); ++i)
    codes[i] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(in[i] * inverse + kRounder) + kLevels);
  for (std::size_t i = 0; 2 * i < in.size(); ++i) out[i] = static_cast<std::byte>(codes[2 * i] | codes[2 * i + 1] << 4);
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(encode_block);

constexpr std::size_t kBlock = HWY_NAMESPACE::kBlock;
constexpr int kLevels = HWY_NAMESPACE::kLevels;

/// Four bits per element, then the magnitude of the outermost level as float32 for every 256 of them.
class Bits4 final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    constexpr auto kElements = static_cast<std::int64_t>(kBlock);
    return level_bytes(elements, kLevels) +
           (elements + kElements - 1) / kElements * static_cast<std::int64_t>(sizeof(float));
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    std::span<std::byte> magnitudes = out.subspan(code_bytes(in.size()));
    for (std::size_t i = 0; i < in.size(); i += kBlock) {
      const std::span block = in.subspan(i, std::min(kBlock, in.size() - i));
      const float step = block_step(std::bit_cast<std::uint32_t>(level_scale(block)), kLevels);
      put(kLevels * step, magnitudes);
      if (step > 0)
        HWY_DYNAMIC_DISPATCH(encode_block)(block, 1 / step, out.data() + i / 2);
      else
        std::ranges::fill(out.subspan(i / 2, code_bytes(block.size())), std::byte{});
    }
    return max_wire_bytes(std::ssize(in));
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    std::span<const std::byte> magnitudes = in.subspan(code_bytes(out.size()));
    for (std::size_t i = 0; i < out.size(); i += kBlock) {
      const std::span block = out.subspan(i, std::min(kBlock, out.size() - i));
      decode_levels(in.subspan(i / 2, code_bytes(block.size())), take<float>(magnitudes), kLevels, kind, block);
    }
  }

 private:
  static std::size_t code_bytes(std::size_t elements) {
    return static_cast<std::size_t>(level_bytes(static_cast<std::int64_t>(elements), kLevels));
  }
};

}  // namespace

extern constinit const Compressor kInt4{
    .name = "int4",
    .summary = "four bits per element, one scale for every 256: the largest of them is 7",
    .citation =
        "Wang et al., ZeRO++: Extremely Efficient Collective Communication for Giant Model Training, arXiv:2306.10209 "
        "(block-based quantization of gradients)",
    .memory_traffic = 1.125,
    .relative_error = -1,
    .relative_l2_error = 0.127,
    .not_finite = {.what = "its block of 256 becomes NaN", .kept = false, .block = 256},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Bits4>(); },
};

}  // namespace hbench
#endif
