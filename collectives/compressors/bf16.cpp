#include "collectives/arithmetic/half.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

class Bfloats final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override { return 2 * elements; }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    bfloat16_conversion().narrow(in, out.first(static_cast<std::size_t>(bytes)));
    return bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (kind == TransferKind::reduce) {
      bfloat16_conversion().widen_and_add(in, out);
    } else {
      bfloat16_conversion().widen(in, out);
    }
  }
};

}  // namespace

extern constinit const Compressor kBf16{
    .name = "bf16",
    .summary = "the upper half of every element: half the bytes, 8 significant bits, float32's range",
    .citation = "Kalamkar et al., A Study of BFLOAT16 for Deep Learning Training, 2019",
    .cast = true,
    .memory_traffic = 1.5,
    .relative_error = 0x1p-8,
    .relative_l2_error = 0.00166,
    .not_finite = {.what = "kept; values from 2^128 - 2^119 on become infinite"},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Bfloats>(); },
};

}  // namespace hbench
