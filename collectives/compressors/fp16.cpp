#include "collectives/arithmetic/half.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

class Halves final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override { return 2 * elements; }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    float16_conversion().narrow(in, out.first(static_cast<std::size_t>(bytes)));
    return bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (kind == TransferKind::reduce) {
      float16_conversion().widen_and_add(in, out);
    } else {
      float16_conversion().widen(in, out);
    }
  }
};

}  // namespace

extern constinit const Compressor kFp16{
    .name = "fp16",
    .summary = "every element as an IEEE half: half the bytes, 11 significant bits, infinite from 65520 on",
    .citation = "Micikevicius et al., Mixed Precision Training, ICLR 2018",
    .cast = true,
    .memory_traffic = 1.5,
    .relative_error = 0x1p-11,
    .relative_l2_error = 0.00021,
    .not_finite = {.what = "kept; values from 65520 on become infinite"},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Halves>(); },
};

}  // namespace hbench
