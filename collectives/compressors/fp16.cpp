#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/half.hpp"

namespace hbench {
namespace {

const HalfConversion& halves() {
  const HalfConversion* fast = fast_halves();
  return fast != nullptr ? *fast : kPortableHalves;
}

std::int64_t wire_bytes(std::int64_t elements) { return 2 * elements; }

void encode(std::span<const float> in, std::span<std::byte> out) { halves().narrow(in, out); }

void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) {
  if (kind == TransferKind::reduce) {
    halves().widen_and_add(in, out);
  } else {
    halves().widen(in, out);
  }
}

}  // namespace

extern const Compressor kFp16;
constinit const Compressor kFp16{
    .name = "fp16",
    .summary = "every element as an IEEE half: half the bytes, 11 significant bits, infinite from 65520 on",
    .citation = "Micikevicius et al., Mixed Precision Training, ICLR 2018",
    .wire_bytes = wire_bytes,
    .memory_traffic = 1.5,
    .relative_error = 0x1p-11,
    .encode = encode,
    .decode = decode,
};

}  // namespace hbench
