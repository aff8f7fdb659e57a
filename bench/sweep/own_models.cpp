#include "bench/sweep/own_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hbench {

void add_own_model_options(Arguments& app, OwnModelOptions& options) {
  app.add_option("--input", options.input,
                 "one sample of a TorchScript model: 3x224x224, or 128:vocab=30522 for 128 tokens of 30522");
  app.add_option("--loss", options.loss,
                 "a TorchScript file that computes its loss of (output, input) (default: cross entropy of the output)");
}

OwnModel own_model(const std::string& file, const OwnModelOptions& options) {
  require_script(file);
  if (!options.loss.empty()) require_script(options.loss);
  if (options.input.empty())
    throw Error(ExitCode::usage, fmt::format("{} takes an input of some shape, and no --input says which", file),
                "add the shape of one sample: --input 3x224x224, or --input 128:vocab=30522 for tokens");
  const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
  OwnModel model{absolute(file), options.loss.empty() ? "" : absolute(options.loss), parse_sample_shape(options.input)};
  model.digest = model.read_digest();
  return model;
}

std::vector<OwnModel> take_own_models(std::vector<std::string>& workloads, const OwnModelOptions& options) {
  std::vector<OwnModel> models;
  for (std::string& workload : workloads) {
    if (!is_model_file(workload)) continue;
    OwnModel model = own_model(workload, options);
    workload = model.name();
    if (find_own_model(models, workload) != nullptr)
      throw Error(ExitCode::usage, fmt::format("two models are called '{}'", workload), "rename one of the files");
    models.push_back(std::move(model));
  }
  if (models.empty() && !(options.input.empty() && options.loss.empty()))
    throw Error(ExitCode::usage, "--input and --loss are for a TorchScript model, and no --workload names one",
                "add such as --workload model.pt");
  return models;
}

void set_workload(Case& asked, const OwnModel& model) {
  asked.workload = model.name();
  asked.model_digest = model.digest;
  asked.image_size = 0;
}

const OwnModel* find_own_model(const std::vector<OwnModel>& models, std::string_view name) {
  const auto found = std::ranges::find(models, name, &OwnModel::name);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace hbench
