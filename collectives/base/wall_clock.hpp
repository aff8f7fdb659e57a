#pragma once

#include <chrono>

#include "collectives/base/units.hpp"

namespace hbench {

/// Since 1970, by the clock that people set: what hosts and runs can be compared by.
inline Seconds wall_clock() {
  return Seconds(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace hbench
