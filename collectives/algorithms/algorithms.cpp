#include <array>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

extern const Algorithm kRing;
extern const Algorithm kParameterServer;
extern const Algorithm kVendor;

std::span<const Algorithm* const> algorithms() {
  static constexpr std::array<const Algorithm*, 3> kTable{&kRing, &kParameterServer, &kVendor};
  return kTable;
}

}  // namespace hbench
