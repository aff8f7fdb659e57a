#pragma once

/// The least time that a GPU needs for a training step, by the sample.

#include <optional>
#include <string_view>

#include "collectives/network/profile.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// `least_time`, and the sample's share of what memory moves once in a step of `batch` samples: the parameters, for
/// both passes, their gradients and the optimizer. Absent where that is. \pre the cost of `trace` is known, `batch` >
/// 0.
std::optional<Seconds> least_step_time(const Profile& gpu, const Trace& trace, int batch, std::string_view precision);

}  // namespace hbench
