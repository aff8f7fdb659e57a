#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"

// This file is compiled once for each instruction set; the loops are plain, compilers make vectors of them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/minmax8.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

/// Floats in their order as whole numbers: neighbours differ by one. NaN are at both ends. Its own inverse.
std::int32_t place_of(std::int32_t bits) { return bits ^ ((bits >> 31) & 0x7fff'ffff); }
std::int32_t place_of(float x) { return place_of(std::bit_cast<std::int32_t>(x)); }
float float_at(std::int32_t place) { return std::bit_cast<float>(place_of(place)); }

struct Ends {
  float least = 0;
  float most = 0;
};

/// NaN where anything is not finite, or the two are further apart than a float can say.
Ends ends_of(std::span<const float> in) {
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t most = std::numeric_limits<std::int32_t>::min();
  for (const float x : in) {
    least = std::min(least, place_of(x));
    most = std::max(most, place_of(x));
  }
  const Ends ends{float_at(least), float_at(most)};
  if (std::isfinite(ends.most - ends.least)) return ends;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  return {kNan, kNan};
}

/// At most 256 floats lie between the ends: codes count them. Else 255 equal steps lead from one to the other, and are
/// long enough for what was decoded to be encoded to itself; both ends are exact.
bool counts(const Ends& ends) {
  return static_cast<std::uint32_t>(place_of(ends.most)) - static_cast<std::uint32_t>(place_of(ends.least)) <= 255;
}

void encode_between(std::span<const float> in, const Ends& ends, std::byte* codes) {
  if (counts(ends)) {
    const std::int32_t first = place_of(ends.least);
    for (std::size_t i = 0; i < in.size(); ++i) codes[i] = static_cast<std::byte>(place_of(in[i]) - first);
    return;
  }
  /// Adding it leaves a float's integer part, rounded to nearest even, in its lowest bits.
  constexpr float kRounder = 0x1p23F;
  // Divided one by one: 255 / range would be infinite for the smallest ranges.
  const float range = ends.most - ends.least;
  for (std::size_t i = 0; i < in.size(); ++i)
    codes[i] = static_cast<std::byte>(std::bit_cast<std::uint32_t>((in[i] - ends.least) / range * 255 + kRounder));
}

template <bool kAdd, class Value>
void decode_each(const std::byte* codes, std::span<float> out, Value value) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float decoded = value(static_cast<std::int32_t>(codes[i]));
    out[i] = kAdd ? out[i] + decoded : decoded;
  }
}

template <bool kAdd>
void decode_between(const std::byte* codes, const Ends& ends, std::span<float> out) {
  if (counts(ends)) {
    const std::int32_t first = place_of(ends.least);
    return decode_each<kAdd>(codes, out, [first](std::int32_t code) { return float_at(first + code); });
  }
  // A step of the smallest ranges would be subnormal, and inexact.
  const float range = ends.most - ends.least;
  decode_each<kAdd>(codes, out, [ends, range](std::int32_t code) {
    const float value = ends.least + static_cast<float>(code) * (1 / 255.0F) * range;
    return code == 255 || value > ends.most ? ends.most : value;
  });
}

void encode(std::span<const float> in, std::span<std::byte> out) {
  const Ends ends = ends_of(in);
  put(ends, out);
  if (std::isnan(ends.least)) {
    std::ranges::fill(out, std::byte{});
  } else {
    encode_between(in, ends, out.data());
  }
}

void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) {
  const auto ends = take<Ends>(in);
  if (std::isnan(ends.least) || std::isnan(ends.most)) {
    std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  if (!std::isfinite(ends.most - ends.least) || ends.most < ends.least) refuse_payload("its ends are no range");
  if (kind == TransferKind::reduce) return decode_between<true>(in.data(), ends, out);
  decode_between<false>(in.data(), ends, out);
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(encode);
HWY_EXPORT(decode);

/// The least and the largest element, then a byte per element.
class MinMax final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    return elements == 0 ? 0 : elements + static_cast<std::int64_t>(2 * sizeof(float));
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    if (!in.empty()) HWY_DYNAMIC_DISPATCH(hbench::encode)(in, out.first(static_cast<std::size_t>(bytes)));
    return bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (!out.empty()) HWY_DYNAMIC_DISPATCH(hbench::decode)(in, kind, out);
  }
};

}  // namespace

extern constinit const Compressor kMinMax8{
    .name = "minmax8",
    .summary = "a byte per element, 255 steps from the message's least to its largest element",
    .citation = "Gan et al., Bagua: Scaling up Distributed Learning with System Relaxations, VLDB 2022 (ByteGrad)",
    .memory_traffic = 2.25,
    .relative_error = -1,
    .relative_l2_error = 0.0103,
    .not_finite = {.what = "the message becomes NaN; so it does when its range exceeds float32's",
                   .kept = false,
                   .block = 0},
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<MinMax>(); },
};

}  // namespace hbench
#endif
