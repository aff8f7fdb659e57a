#include "collectives/compressors/half.hpp"

namespace hbench {

const HalfConversion* fast_halves() { return nullptr; }

}  // namespace hbench
