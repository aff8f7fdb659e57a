#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/select.hpp"

namespace hbench {
namespace {

class TopK final : public Codec {
 public:
  explicit TopK(double ratio) : ratio_(ratio) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    expect_short_positions(elements);
    return sparse_bytes(share_of(elements, ratio_));
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    expect_short_positions(std::ssize(in));
    return encode_sparse(in, largest_elements(in, share_of(std::ssize(in), ratio_)), out);
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    decode_sparse(in, kind, out);
  }

 private:
  double ratio_;
};

}  // namespace

extern constinit const Compressor kTopK{
    .name = "topk",
    .summary = "the elements of the largest magnitude, exactly; positions and values",
    .citation = "Aji, Heafield, Sparse Communication for Distributed Gradient Descent, EMNLP 2017",
    .exchange = Exchange::gather,
    .fields = "ratio",
    .defaults = "0.01",
    .memory_traffic = 1.03,
    .relative_error = 1,
    .relative_l2_error = 0.957,
    .not_finite = {.what = "kept, and sent before all others"},
    .make = [](std::string_view parameters) -> std::unique_ptr<Codec> {
      return std::make_unique<TopK>(parse_ratio("topk", parameters));
    },
};

}  // namespace hbench
