#include <array>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

extern const Compressor kNoCompression;
extern const Compressor kFp16;

std::span<const Compressor* const> compressors() {
  static constexpr std::array<const Compressor*, 2> kTable{&kNoCompression, &kFp16};
  return kTable;
}

}  // namespace hbench
