#pragma once

/// Jobs that reduce their gradients in one go after the backward pass: without hooks, under `no_sync`, in the
/// optimizer's step.

#include <string>
#include <vector>

#include "analysis/jobs/recording.hpp"

namespace hbench {

/// Finds the steps whose all-reduces after the backward pass have as many elements as the gradients together, and lets
/// these exchanges carry gradients instead of those of the backward pass (`in_backward`, `exposed`). Others, such as of
/// losses, may be launched before and after them. Where each is a run of gradients in the order in which these
/// became ready, or in the opposite order, which is that of parameters, `gradients_before` says so. Where sizes are not
/// known or do not add up nothing changes.
/// \param group of ranks, by the recorder's name; empty: any, of which only one may fit.
void find_late_exchanges(std::vector<Recording>& recordings, const std::string& group);

}  // namespace hbench
