#include <cstring>

#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

void add(std::span<const std::byte> in, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    float term;  // `in` may lie at any address
    std::memcpy(&term, in.data() + i * sizeof term, sizeof term);
    out[i] += term;
  }
}

class Verbatim final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    return static_cast<std::int64_t>(sizeof(float)) * elements;
  }

  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    if (!in.empty()) std::memcpy(out.data(), in.data(), in.size_bytes());
    return static_cast<std::int64_t>(in.size_bytes());
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    expect_size(in, max_wire_bytes(std::ssize(out)));
    if (kind == TransferKind::reduce) {
      add(in, out);
    } else if (!out.empty()) {
      std::memcpy(out.data(), in.data(), out.size_bytes());
    }
  }
};

}  // namespace

extern constinit const Compressor kNoCompression{
    .name = "none",
    .summary = "float32 elements as they are",
    .citation = "",
    .make = [](std::string_view) -> std::unique_ptr<Codec> { return std::make_unique<Verbatim>(); },
};

}  // namespace hbench
