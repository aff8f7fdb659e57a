#include <array>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

extern const Compressor kNoCompression;
extern const Compressor kFp16;
extern const Compressor kBf16;
extern const Compressor kPowerSgd;

std::span<const Compressor* const> compressors() {
  static constexpr std::array kTable{
      &kNoCompression,
      &kFp16,
      &kBf16,
      &kPowerSgd,
  };
  return kTable;
}

}  // namespace hbench
