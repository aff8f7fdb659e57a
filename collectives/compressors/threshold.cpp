#include <bit>
#include <cstring>
#include <memory>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"
#include "collectives/compressors/select.hpp"

namespace hbench {
namespace {

/// In place of a count: all elements follow, because positions would take more than they save.
constexpr std::uint32_t kDense = 0xffff'ffff;
constexpr auto kCountBytes = static_cast<std::int64_t>(sizeof kDense);

class Threshold final : public Codec {
 public:
  explicit Threshold(float least) : least_(std::bit_cast<std::uint32_t>(least) & kMagnitudeMask) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    expect_short_positions(elements);
    return kCountBytes + elements * static_cast<std::int64_t>(sizeof(float));
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    const std::int64_t dense_bytes = max_wire_bytes(std::ssize(in));
    const std::size_t most = in.size() / 2;
    const auto positions = std::make_unique_for_overwrite<std::uint32_t[]>(most + kCollectSlack);
    const std::size_t count = collect(in, least_, 0, {positions.get(), most + kCollectSlack});
    if (count <= most) return encode_sparse(in, {positions.get(), count}, out);
    put(kDense, out);
    std::memcpy(out.data(), in.data(), in.size_bytes());
    return dense_bytes;
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    std::span rest = in;
    if (take<std::uint32_t>(rest) != kDense) return decode_sparse(in, kind, out);
    expect_size(in, max_wire_bytes(std::ssize(out)));
    for (float& x : out) x = take<float>(rest) + (kind == TransferKind::reduce ? x : 0.0F);
  }

 private:
  std::uint32_t least_;
};

}  // namespace

extern constinit const Compressor kThresholdCompressor{
    .name = "threshold",
    .summary = "the elements of at least a given magnitude, positions and values; all when that is over half of them",
    .citation = "Strom, Scalable Distributed DNN Training Using Commodity GPU Cloud Computing, Interspeech 2015",
    .exchange = Exchange::gather,
    .fields = "magnitude",
    .defaults = "0.01",
    .bytes_vary = true,
    .memory_traffic = 2,
    .relative_error = 1,
    .relative_l2_error = 0,
    .make = [](std::string_view parameters) -> std::unique_ptr<Codec> {
      return std::make_unique<Threshold>(parse_magnitude("threshold", "magnitude", parameters));
    },
};

}  // namespace hbench
