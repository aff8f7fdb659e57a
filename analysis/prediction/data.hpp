#pragma once

/// What predictions are made from: cluster profiles and recorded timelines.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "collectives/base/units.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/stop.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// The profiles and timelines that come with the program, and files of the user's own.
struct Data {
  ProfileLibrary profiles;
  TraceLibrary traces;
};

/// The profiles and timelines that a plan's cases name.
struct Catalog {
  std::map<std::string, Profile, std::less<>> profiles;
  std::map<std::string, Trace, std::less<>> traces;
  /// The logarithm by which steps of several GPUs are longer than is simulated, as one that was measured says of the
  /// one training that is asked for (`take_measured_step`), and that of those within one domain; 0: none was measured.
  double measured_shift = 0, measured_shift_inside = 0;
};

/// What simulations may take, and who follows them: nobody, where nothing is said.
struct SimulationMeans {
  std::int64_t memory = INT64_MAX;                                        ///< bytes
  StopRequested stop = {};                                                ///< asked often
  std::function<void(Seconds)> more = [](Seconds) {};                     ///< about so much work is still to be done
  std::function<void(std::string_view)> begun = [](std::string_view) {};  ///< what is simulated now
  std::function<void(Seconds)> done = [](Seconds) {};                     ///< so much of the work is over
};

}  // namespace hbench
