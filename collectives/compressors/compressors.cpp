#include <array>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

extern const Compressor kNoCompression;
extern const Compressor kFp16;
extern const Compressor kBf16;
extern const Compressor kInt8;
extern const Compressor kInt4;
extern const Compressor kMinMax8;
extern const Compressor kNatural;
extern const Compressor kQsgd;
extern const Compressor kTernGrad;
extern const Compressor kSign;
extern const Compressor kTopK;
extern const Compressor kRandomK;
extern const Compressor kThresholdCompressor;
extern const Compressor kDgc;
extern const Compressor kPowerSgd;
extern const Compressor kOneBit;

std::span<const Compressor* const> compressors() {
  // A line for each.
  // clang-format off
  static constexpr std::array kTable{
      &kNoCompression,
      &kFp16,
      &kBf16,
      &kInt8,
      &kInt4,
      &kMinMax8,
      &kNatural,
      &kQsgd,
      &kTernGrad,
      &kSign,
      &kTopK,
      &kRandomK,
      &kThresholdCompressor,
      &kDgc,
      &kPowerSgd,
      &kOneBit,
  };
  // clang-format on
  return kTable;
}

}  // namespace hbench
