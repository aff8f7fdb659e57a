#pragma once

/// What verbs that predict by simulation have in common.

#include "analysis/catalogue/figures.hpp"
#include "analysis/prediction/data.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/sweep/measured_place.hpp"

namespace hbench {

/// Adds `--gpus`, `--algorithm`, `--compressor`, `--preset`, `--precision` and those of a step; what `request` has now
/// are the defaults, and `gpus` that of the GPU counts. `request` outlives the parsing.
void add_strategy_options(Arguments& app, PredictionRequest& request, const char* gpus);
/// Returns what was typed of these but `--gpus`, for a command that is advised: ` --method fsdp --precision bf16`.
std::string strategy_flags(const Call& call);
/// Adds those and `--workload` and `--profile`, for questions about the rate of a network.
void add_network_options(Arguments& app, PredictionRequest& request);
/// Adds `--gpu`, `--provider`, `--max-price` and `--min-bandwidth`; `where` begins what their help says. `texts`
/// outlives the parsing.
void add_catalogue_options(Arguments& app, CatalogueTexts& texts, const std::string& where);

/// Returns what `predict` makes of the data and of what simulations may take, and shows how far it is. Ctrl-C ends it.
template <class Predict>
auto predicted(Verbosity verbosity, Predict predict) {
  catch_interrupts();
  Progress progress(0, verbosity);
  auto answer = predict(load_data(), simulation_means(progress));
  progress.clear();
  return answer;
}

}  // namespace hbench
