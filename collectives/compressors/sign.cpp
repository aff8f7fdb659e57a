#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"
#include "collectives/compressors/signs.hpp"

namespace hbench {
namespace {

/// What fits in the first cache. Whole bytes of signs.
constexpr std::size_t kPiece = 1024;

/// The mean magnitude as float32, then the signs.
class Sign final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    return elements == 0 ? 0 : static_cast<std::int64_t>(sizeof(float)) + sign_bytes(elements);
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    if (in.empty()) return bytes;
    out = out.first(static_cast<std::size_t>(bytes));
    const SignedSums sums = signed_sums(in);
    const double mean = (sums.positive - sums.negative) / static_cast<double>(in.size());
    // Which NaN comes out of arithmetic is the processor's choice; what is written is the same everywhere.
    put(std::isnan(mean) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(mean), out);
    pack_signs(in, out);
    return bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (out.empty()) return;
    const auto magnitude = std::bit_cast<std::uint32_t>(take<float>(in));
    std::array<std::uint32_t, kPiece> signs;
    for (std::size_t i = 0; i < out.size(); i += kPiece) {
      const std::span part = out.subspan(i, std::min(kPiece, out.size() - i));
      unpack_signs(in.subspan(i / 8), std::span(signs).first(part.size()));
      const bool add = kind == TransferKind::reduce;
      for (std::size_t j = 0; j < part.size(); ++j)
        part[j] = std::bit_cast<float>(magnitude ^ signs[j]) + (add ? part[j] : 0.0F);
    }
  }
};

}  // namespace

extern constinit const Compressor kSign{
    .name = "sign",
    .summary = "signs, times the mean magnitude; ef:sign is EF-SignSGD",
    .citation = "Bernstein et al., signSGD, ICML 2018; Karimireddy et al., Error Feedback Fixes SignSGD, ICML 2019",
    .exchange = Exchange::gather,
    .memory_traffic = 2.03,
    .relative_error = -1,
    .relative_l2_error = 0.601,
    .not_finite = {.what = "all elements become NaN, or infinite", .kept = false, .block = 0},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Sign>(); },
};

}  // namespace hbench
