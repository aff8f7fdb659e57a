#pragma once

#include <string_view>

#include "collectives/network/profile.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// Whether the name that a driver has for a GPU, such as `NVIDIA A100-SXM4-40GB`, is that of a GPU of the catalogue,
/// such as `a100` or `h100-sxm`. Sizes of memory do not count; `sxm` and `pcie` do, where both say it.
bool is_gpu_of_catalogue(std::string_view driver_name, std::string_view gpu);

/// Whether a timeline was recorded on a GPU like those of a cluster: then its own speed is theirs.
bool is_recorded_on(const Trace& trace, const Profile& cluster);

}  // namespace hbench
