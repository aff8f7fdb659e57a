#include <array>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

extern const Compressor kNoCompression;
extern const Compressor kFp16;

namespace {
constexpr std::array kCompressors{&kNoCompression, &kFp16};
}

std::span<const Compressor* const> compressors() { return kCompressors; }

}  // namespace hbench
