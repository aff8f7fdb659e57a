#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/arithmetic/data_type.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// Returns the tensors of a trace as they travel, in elements: each alone, or as the fusion policy merges them.
std::vector<std::int64_t> tensors_of(const StepTimeline& timeline, const std::string& fusion, DataType type);

}  // namespace hbench
