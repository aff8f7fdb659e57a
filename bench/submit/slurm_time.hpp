#pragma once

#include <optional>
#include <string_view>

#include "collectives/base/units.hpp"

namespace hbench {

/// A time as sbatch takes it: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`
/// or `days-hours:minutes:seconds`. None where a text is none of these, and for 0. Pure.
std::optional<Seconds> slurm_time(std::string_view text);

}  // namespace hbench
