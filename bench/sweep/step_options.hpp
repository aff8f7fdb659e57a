#pragma once

#include "analysis/prediction/request.hpp"
#include "bench/command/arguments.hpp"

namespace hbench {

/// Adds the flags of what one GPU does in a step: `--batch`, `--accumulate`, `--global-batch`, `--single-gpu-rate`,
/// `--single-node-rate`, `--rate`, `--recompute` and `--optimizer`. `request` outlives the parsing.
void add_step_options(Arguments& app, PredictionRequest& request);
/// Adds `--optimizer`, whose default is `standard` in words. `request` outlives the parsing.
void add_optimizer_option(Arguments& app, PredictionRequest& request, const std::string& standard);
/// Adds `--method`. `request` outlives the parsing.
void add_method_option(Arguments& app, PredictionRequest& request);
/// Adds `--precision`, whose default is `standard` in words. `request` outlives the parsing.
void add_precision_option(Arguments& app, PredictionRequest& request, const std::string& standard);

}  // namespace hbench
