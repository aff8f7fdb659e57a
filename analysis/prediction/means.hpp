#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "collectives/base/units.hpp"
#include "collectives/network/stop.hpp"

namespace hbench {

/// What simulations may take, and who follows them: nobody, where nothing is said.
struct SimulationMeans {
  std::int64_t memory = INT64_MAX;                                        ///< bytes
  StopRequested stop = {};                                                ///< asked often
  std::function<void(Seconds)> more = [](Seconds) {};                     ///< about so much work is still to be done
  std::function<void(std::string_view)> begun = [](std::string_view) {};  ///< what is simulated now
  std::function<void(Seconds)> done = [](Seconds) {};                     ///< so much of the work is over
};

}  // namespace hbench
