#pragma once

#include <string>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "workloads/precision.hpp"

namespace hbench {

/// Why gradients cannot travel so, measured or simulated: one sentence for a person; empty when they can.
std::string refuse_strategy(const AlgorithmRule& algorithm, const CompressorChoice& compressor,
                            const FusionChoice& fusion, const World& world, Precision precision = Precision::float32);

}  // namespace hbench
