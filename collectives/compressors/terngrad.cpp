#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/levels.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

constexpr int kLevels = 1;

/// The largest magnitude as float32, then 2 bits per element: 0, 1, 2 for minus, zero, plus.
class TernGrad final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    return elements == 0 ? 0 : static_cast<std::int64_t>(sizeof(float)) + level_bytes(elements, kLevels);
  }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    if (in.empty()) return bytes;
    out = out.first(static_cast<std::size_t>(bytes));
    const float scale = level_scale(in);
    put(scale, out);
    encode_levels(in, scale, kLevels, key_of(draw), 0, out);
    return bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (out.empty()) return;
    const auto scale = take<float>(in);
    decode_levels(in, scale, kLevels, kind, out);
  }
};

}  // namespace

extern constinit const Compressor kTernGrad{
    .name = "terngrad",
    .summary = "minus, zero or plus the buffer's largest magnitude, by chance",
    .citation = "Wen et al., TernGrad, NeurIPS 2017 (without gradient clipping, which biases)",
    .exchange = Exchange::gather,
    .unbiased = true,
    .memory_traffic = 2.06,
    .relative_error = -1,
    .relative_l2_error = 1.62,
    .not_finite = {.what = "the buffer becomes NaN", .kept = false, .block = 0},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<TernGrad>(); },
};

}  // namespace hbench
