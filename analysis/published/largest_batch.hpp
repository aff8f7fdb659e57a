#pragma once

/// The largest batches with which models are known to reach the accuracy that they have with small ones. Beyond them a
/// step that is fast may be no step forward.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/records/records.hpp"

namespace hbench {

struct KnownBatch {
  std::string_view workload;  ///< by hbench's name
  std::int64_t samples = 0;   ///< of one step, all GPUs together
  std::string_view how;       ///< what it takes
  std::string_view source;
};

/// All that are known, by workload and size.
std::span<const KnownBatch> known_batches();

/// A warning of a step with more samples than its workload is known to converge with; empty where it has fewer, or
/// where nothing is known of the workload.
std::string warn_of_batch(const Case& asked);

}  // namespace hbench
