#include <algorithm>
#include <array>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"
#include "collectives/compressors/random.hpp"
#include "collectives/compressors/select.hpp"

namespace hbench {
namespace {

/// One of every 1 / ratio elements in a row: where in each row, the key says. So positions ascend, and the chance of
/// each element is one over its row's length, by which its value is multiplied.
class Sample {
 public:
  Sample(std::size_t elements, std::size_t count, std::uint64_t key) : elements_(elements), count_(count), key_{key} {}

  /// `visit(position, row length)` for each of them.
  template <class Visit>
  void for_each(Visit visit) const {
    std::array<std::uint32_t, 1024> random;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (i % random.size() == 0) random_bits(key_, static_cast<std::int64_t>(i), random);
      const std::size_t end = elements_ * (i + 1) / count_;
      const std::size_t length = end - begin;
      visit(begin + (length * random[i % random.size()] >> 32), static_cast<float>(length));
      begin = end;
    }
  }

 private:
  std::size_t elements_;
  std::size_t count_;
  RandomKey key_;
};

/// A 64-bit key, the same on all ranks, then the values.
class RandomK final : public Codec {
 public:
  explicit RandomK(double ratio) : ratio_(ratio) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    expect_short_positions(elements);
    return elements == 0 ? 0
                         : static_cast<std::int64_t>(sizeof(std::uint64_t)) +
                               share_of(elements, ratio_) * static_cast<std::int64_t>(sizeof(float));
  }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    if (in.empty()) return bytes;
    const RandomKey shared = shared_key_of(draw);
    const std::uint64_t key = mixed(shared.key ^ mixed(shared.offset));
    put(key, out);
    sample(in.size(), key).for_each([&](std::size_t position, float length) { put(in[position] * length, out); });
    return bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (out.empty()) return;
    const auto key = take<std::uint64_t>(in);
    if (kind == TransferKind::copy) std::ranges::fill(out, 0.0F);
    sample(out.size(), key).for_each([&](std::size_t position, float) { out[position] += take<float>(in); });
  }

 private:
  Sample sample(std::size_t elements, std::uint64_t key) const {
    return {elements, static_cast<std::size_t>(share_of(static_cast<std::int64_t>(elements), ratio_)), key};
  }

  double ratio_;
};

}  // namespace

extern constinit const Compressor kRandomK{
    .name = "randomk",
    .summary = "one of every 100 elements in a row, times 100; all ranks draw the same, so only values travel",
    .citation = "Stich et al., Sparsified SGD with Memory, NeurIPS 2018; unbiased: Wangni et al., NeurIPS 2018",
    .exchange = Exchange::gather,
    .fields = "ratio",
    .defaults = "0.01",
    .unbiased = true,
    .memory_traffic = 0.3,
    .relative_error = -1,
    .relative_l2_error = 9.93,
    .not_finite = {.what = "kept where they are drawn", .kept = false},
    .make = [](std::string_view parameters) -> std::unique_ptr<Codec> {
      return std::make_unique<RandomK>(parse_ratio("randomk", parameters));
    },
};

}  // namespace hbench
