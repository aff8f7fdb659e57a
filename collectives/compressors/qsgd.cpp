#include <algorithm>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/levels.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

constexpr std::int64_t kBucket = 512;
/// One would be terngrad, whose errors are larger than the gradient.
constexpr std::int64_t kFewestLevels = 2;
constexpr auto kScaleBytes = static_cast<std::int64_t>(sizeof(float));

/// For every 512 elements: their largest magnitude as float32, then their levels, of 2, 4 or 8 bits.
class Qsgd final : public Codec {
 public:
  explicit Qsgd(int levels) : levels_(levels) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    return (elements + kBucket - 1) / kBucket * kScaleBytes + level_bytes(elements, levels_);
  }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    const RandomKey key = key_of(draw);
    for_each_bucket(std::ssize(in), [&](std::size_t begin, std::size_t count, std::size_t bytes) {
      const std::span bucket = in.subspan(begin, count);
      const float scale = level_scale(bucket);
      put(scale, out);
      encode_levels(bucket, scale, levels_, key, static_cast<std::int64_t>(begin), out.first(bytes));
      out = out.subspan(bytes);
    });
    return max_wire_bytes(std::ssize(in));
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    for_each_bucket(std::ssize(out), [&](std::size_t begin, std::size_t count, std::size_t bytes) {
      const auto scale = take<float>(in);
      decode_levels(in.first(bytes), scale, levels_, kind, out.subspan(begin, count));
      in = in.subspan(bytes);
    });
  }

 private:
  template <class Visit>
  void for_each_bucket(std::int64_t elements, Visit visit) const {
    for (std::int64_t begin = 0; begin < elements; begin += kBucket) {
      const std::int64_t count = std::min(kBucket, elements - begin);
      visit(static_cast<std::size_t>(begin), static_cast<std::size_t>(count),
            static_cast<std::size_t>(level_bytes(count, levels_)));
    }
  }

  int levels_;
};

}  // namespace

extern constinit const Compressor kQsgd{
    .name = "qsgd",
    .summary = "stochastic rounding to levels of the largest of every 512 elements, in 2, 4 (7 levels) or 8 bits",
    .citation = "Alistarh et al., QSGD, NeurIPS 2017 (section 4: buckets, scaled by their maximum)",
    .exchange = Exchange::gather,
    .fields = "levels",
    .defaults = "7",
    .unbiased = true,
    .memory_traffic = 1.13,
    .relative_error = -1,
    .relative_l2_error = 0.19,
    .not_finite = {.what = "its bucket of 512 becomes NaN", .kept = false, .block = 512},
    .make = [](std::string_view parameters) -> std::unique_ptr<Codec> {
      return std::make_unique<Qsgd>(static_cast<int>(parse_whole("qsgd", "levels", parameters, kFewestLevels, 127)));
    },
};

}  // namespace hbench
