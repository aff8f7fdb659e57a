#include <algorithm>
#include <cstring>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

/// One buffer alone, from a cold start: what listings and tests see. All-reduces use `LowRankState`.
class ColdStart final : public Codec {
 public:
  explicit ColdStart(std::int64_t rank) : rank_(rank) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    const LowRankShape shape = low_rank_shape(elements, rank_);
    return static_cast<std::int64_t>(sizeof(float)) * (shape.left_elements() + shape.right_elements());
  }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    LowRankState state(std::ssize(in), rank_, false, draw.seed);
    std::vector<float> gradient(in.begin(), in.end());
    state.begin(gradient);
    state.middle(gradient);
    std::ranges::copy(std::as_bytes(state.left()), out.begin());
    std::ranges::copy(std::as_bytes(state.right()), out.begin() + std::ssize(std::as_bytes(state.left())));
    return max_wire_bytes(std::ssize(in));
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    const LowRankShape shape = low_rank_shape(std::ssize(out), rank_);
    expect_size(in, max_wire_bytes(std::ssize(out)));
    std::vector<float> factors(in.size() / sizeof(float));
    if (!in.empty()) std::memcpy(factors.data(), in.data(), in.size());
    const auto left = std::span(factors).first(static_cast<std::size_t>(shape.left_elements()));
    const auto right = std::span(factors).subspan(left.size());
    const auto products = host_low_rank_products();
    if (kind == TransferKind::copy) return products->expand(shape, left, right, out);
    std::vector<float> term(out.size());
    products->expand(shape, left, right, term);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += term[i];
  }

 private:
  std::int64_t rank_;
};

std::unique_ptr<Codec> make(std::string_view parameters) {
  return std::make_unique<ColdStart>(parse_whole("powersgd", "rank", parameters, 1, kLargestRank));
}

}  // namespace

extern constinit const Compressor kPowerSgd{
    .name = "powersgd",
    .summary = "the gradient as a matrix of low rank, by one warm-started step of subspace iteration",
    .citation = "Vogels et al., PowerSGD, NeurIPS 2019",
    .exchange = Exchange::low_rank,
    .fields = "rank",
    .defaults = "4",
    .memory_traffic = 4,
    .relative_error = -1,
    .relative_l2_error = 0.987,
    .not_finite = {.what = "spread over the buffer; the next step is free of them", .kept = false, .block = 0},
    .make = make,
};

}  // namespace hbench
