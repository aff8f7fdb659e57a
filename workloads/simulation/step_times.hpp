#pragma once

/// Where the time of a simulated step goes.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "collectives/base/units.hpp"
#include "collectives/network/simulation_plan.hpp"

namespace hbench {

/// How many gradients a server has applied between an answer to a rank and the rank's next gradient, which was computed
/// without them; of all pieces of the model alike.
struct Staleness {
  double mean = 0;
  int p95 = 0, largest = 0;
  /// \param counts how often each number has come; not empty
  static Staleness of(const std::map<int, std::int64_t>& counts);
  /// By the names under which results have them.
  std::array<std::pair<std::string_view, double>, 3> parts() const {
    return {{{"mean", mean}, {"p95", p95}, {"largest", largest}}};
  }
};

/// One simulated step and where its time went. The parts add up to `step`.
struct StepTimes {
  Seconds step;
  Seconds compute;        ///< both passes of one undisturbed GPU
  Seconds straggler;      ///< the slowest of all ranks needs longer
  Seconds slowdown;       ///< compute disturbed by communication in flight
  Seconds exposed;        ///< communication that nothing hid
  Seconds update;         ///< the optimizer's; 0 where it is in `compute`
  Seconds alone;          ///< a step of one undisturbed GPU that exchanges nothing (not a part of the sum)
  Seconds communication;  ///< time with a collective in flight, hidden or not (not a part of the sum)
  int buckets = 0;
  std::optional<Staleness> staleness;  ///< where servers apply gradients as they come
  /// Bytes that all ranks, and servers, send in a step, by the number of workers. None where a schedule is a library's
  /// own, or a model is divided.
  std::optional<Moved> sent = Moved();
  Seconds idle;  ///< a part of `exposed`: a stage of a pipeline waits for others
};

/// Adds a step to a mean of which it makes `share`.
void add_share(StepTimes& mean, const StepTimes& step, double share);

}  // namespace hbench
