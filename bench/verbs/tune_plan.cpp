#include "bench/verbs/tune_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/command/arguments.hpp"
#include "bench/command/labels.hpp"
#include "bench/output/terminal.hpp"
#include "bench/sweep/plan.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/race.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

std::optional<TuneOptions> parse_tune_options(const Call& call) {
  TuneOptions options;
  Arguments app("Finds the fusion setting that is fastest for a workload, and says which differences are noise.",
                "hbench tune");
  app.footer(
      "Launches are independent and alternate between the settings. After each round the slower half is dropped. The "
      "last settings are compared by launches of their own: slower means slower by an exact rank test, corrected for "
      "the number of settings, and by at least 3 %.\n"
      "Examples:\n"
      "  hbench tune --workload resnet18 --ranks 2\n"
      "  hbench tune --workload resnet18 --ranks 2 --fusion horovod:64MiB:5ms,horovod:64MiB:5ms\n"
      "  hbench tune --workload vgg16 --profile aws-p3-25gbe --gpus 64 --fusion horovod,ddp,mg-wfbp");
  app.add_option("--workload", options.workload, "a model to train (default: resnet18), or a timeline to simulate");
  Option* ranks = app.add_option("--ranks", options.ranks, "workers on this machine", in_range(1, 1024));
  Option* profile = app.add_option("--profile", options.profile, "simulate on this cluster instead");
  profile->excludes(ranks);
  app.add_option("--gpus", options.gpus, "GPUs of the simulated cluster", in_range(1, 1'000'000))->needs(profile);
  app.add_option("--algorithm", options.algorithm, "hbench list algorithms");
  app.add_option("--compressor", options.compressor, "hbench list compressors");
  app.add_option("--fusion", options.fusion,
                 "policies, each tried with a grid of parameters, or settings to compare (comma list)");
  app.add_option("--budget", options.budget, "time for all launches");
  app.add_option("--batch", options.batch, "samples per GPU and step", in_range(1, 1'000'000));
  app.add_option("--image-size", options.image_size,
                 "image size of measured runs in pixels (default: 64 on CPU cores, 224 on GPUs)", in_range(1, 4096));
  app.add_option("--steps", options.steps, "timed steps per launch, at most", in_range(1, 1'000'000));
  app.add_option("--db", options.database, "results database that stores the launches of measured settings");
  add_labels(app, options.labels);
  app.add_flag("--json", options.json, "print the settings as JSON instead of a table");
  app.add_flag("--wide", options.wide, kWideHelp);
  add_verbosity(app, options.verbosity);
  if (app.parse(call)) return std::nullopt;
  if (is_model_file(options.workload)) throw no_timeline(options.workload);
  if (options.workload.empty()) options.workload = options.simulated() ? "resnet50" : "resnet18";
  if (options.simulated() && options.gpus == 0) options.gpus = 16;
  return options;
}

std::vector<std::string> tuned_settings(const TuneOptions& options, std::int64_t bytes, std::size_t most) {
  const std::vector<std::string> asked = split_list(options.fusion, "--fusion");
  std::vector<std::string> all;
  for (const std::string& text : asked) {
    if (text.find(':') != std::string::npos)
      all.push_back(parse_fusion(text).text());
    else
      for (std::string& one : tune_candidates(*parse_fusion(text).fusion, bytes, most / asked.size()))
        all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> affordable_settings(const TuneOptions& options, std::int64_t bytes, double cost,
                                             double budget) {
  const auto needed = [&](std::size_t settings) { return (1 + Race::fewest_launches(settings)) * cost; };
  std::size_t most = kMostMeasured;
  while (most > 2 && needed(tuned_settings(options, bytes, most).size()) > budget) --most;
  std::vector<std::string> fusions = tuned_settings(options, bytes, most);
  if (needed(fusions.size()) > budget)
    throw Error(
        ExitCode::usage,
        fmt::format("a launch takes {}, and {} settings need {} of them: {} is too short", format(Seconds(cost)),
                    fusions.size(), 1 + Race::fewest_launches(fusions.size()), options.budget),
        fmt::format("give --budget {:.0f}s or more", std::ceil(needed(fusions.size()) * 1.1)));
  return fusions;
}

Plan tune_plan(const TuneOptions& options, const std::vector<std::string>& fusions, const Data& data,
               const LocalMachine& machine) {
  SweepRequest request;
  request.gpus = {options.workers()};
  request.workloads = {options.workload};
  request.algorithms = {options.algorithm};
  request.compressors = {options.compressor};
  request.fusions = fusions;
  request.batch = options.batch;
  request.image_size = options.image_size;
  if (options.simulated()) request.profiles = {options.profile};
  request.evidence = {options.simulated() ? Evidence::simulated : Evidence::measured};
  // One choice where a sweep compares several.
  if (parse_algorithm_rule(options.algorithm).uses_servers()) {
    request.placements = {"greedy"};
    request.servers = {{.colocated = false, .count = 0}};
  }
  Plan plan = make_plan(request, data, machine);
  std::erase_if(plan.cases, [](const Case& asked) { return !asked.strategy.communicates(); });
  if (plan.cases.empty())
    throw Error(ExitCode::usage, plan.refused.empty() ? "nothing to tune: no algorithm" : plan.refused.front().why,
                "hbench list algorithms, hbench list compressors");
  return plan;
}

const Case& case_of(const Plan& plan, const std::string& fusion) {
  const auto found = std::ranges::find(plan.cases, fusion, [](const Case& asked) { return asked.strategy.fusion; });
  if (found != plan.cases.end()) return *found;
  throw Error(ExitCode::usage, plan.refused.empty() ? fusion + " was left out" : plan.refused.front().why);
}

}  // namespace hbench
