#pragma once

/// The blocks of layers that a model is made of: what fully sharded training gathers, and frees, at once.

#include <cstdint>
#include <vector>

#include "workloads/step/timeline.hpp"

namespace hbench {

/// Returns the tensors of each unit, by their places in the timeline, in the order of the forward pass. Tensors whose
/// names are the same up to their first number (`h11.mlp.fc.weight`, `h11.ln_1.bias`) are of one unit, as those who
/// wrap each block of a transformer have them; so are those without a number that follow each other. A unit of less
/// than a tenth of the middle one joins its neighbour: nobody gathers a norm alone.
std::vector<std::vector<int>> model_units(const StepTimeline& timeline);

/// How long the backward pass of a unit takes: until the last of its gradients, since the last of the units after it.
/// The first unit of the model has the end of the pass. Its forward pass takes the same share of the whole.
Seconds backward_of(const std::vector<std::vector<int>>& units, std::size_t unit, const StepTimeline& timeline);

/// Returns the elements of a unit.
std::int64_t elements_of(const std::vector<int>& unit, const StepTimeline& timeline);

}  // namespace hbench
