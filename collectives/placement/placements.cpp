#include <array>

#include "collectives/placement/placement.hpp"

namespace hbench {

extern const Placement kGreedy;
extern const Placement kRoundRobin;
extern const Placement kSliced;

std::span<const Placement* const> placements() {
  static constexpr std::array<const Placement*, 3> kTable{&kGreedy, &kRoundRobin, &kSliced};
  return kTable;
}

}  // namespace hbench
