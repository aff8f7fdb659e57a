#pragma once

#include "analysis/prediction/request.hpp"
#include "bench/command/arguments.hpp"

namespace hbench {

/// Adds `--batch`, `--accumulate` and `--global-batch`. `request` outlives the parsing.
void add_batch_options(Arguments& app, PredictionRequest& request);
/// Adds `--method`. `request` outlives the parsing.
void add_method_option(Arguments& app, PredictionRequest& request);

}  // namespace hbench
