#pragma once

/// Models of one's own on the command line: files of TorchScript, by their endings.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/command/arguments.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

/// What the flags say of such models; empty where they are not given.
struct OwnModelOptions {
  std::string input, loss;
};

/// Adds `--input` and `--loss`. `options` outlives the parsing.
void add_own_model_options(Arguments& app, OwnModelOptions& options);

/// Returns the model of a file, with absolute paths, which ranks in other folders read. \throws Error (usage) without
/// `--input`, and for a file that is no TorchScript.
OwnModel own_model(const std::string& file, const OwnModelOptions& options);

/// Returns the models of the files among `workloads`, which then have their names in the place of the files.
/// \throws Error (usage) as `own_model`, for two models of one name, and for flags without a model.
std::vector<OwnModel> take_own_models(std::vector<std::string>& workloads, const OwnModelOptions& options);

/// Makes it the workload of a measured case.
void set_workload(Case& asked, const OwnModel& model);

/// Returns the model of a name; null where there is none.
const OwnModel* find_own_model(const std::vector<OwnModel>& models, std::string_view name);

}  // namespace hbench
