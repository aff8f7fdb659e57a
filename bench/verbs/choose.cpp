#include "analysis/prediction/choose.hpp"

#include <fmt/format.h>

#include "analysis/prediction/gpu_range.hpp"
#include "analysis/prediction/recorded_gpu.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/options.hpp"
#include "bench/verbs/catalogue_options.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/table.hpp"
#include "reports/prediction/choice.hpp"

namespace hbench {
namespace {

/// Every cluster that meets the conditions and has a rate of one GPU for the workload, where none is named.
std::vector<std::string> clusters_for(const std::string& workload, bool rate_given, const CatalogueFilter& filter,
                                      const Data& data) {
  const Trace trace = data.traces.load(workload);
  std::vector<std::string> clusters;
  for (const Profile& profile : matching_profiles(all_profiles(data.profiles), filter))
    if (rate_given || profile.rates.contains(trace.name) || is_recorded_on(trace, profile))
      clusters.push_back(profile.name);
  if (clusters.empty())
    throw Error(ExitCode::usage, fmt::format("no cluster has a rate of one GPU for {}", trace.name),
                "give --single-gpu-rate SAMPLES_PER_SECOND, or --profile with a file of your own that has one");
  return clusters;
}

ExitCode run_choose(const Call& call) {
  std::string workload = "resnet50", gpus = "1..256", profiles, algorithms, compressors, presets;
  GoalTexts texts;
  CatalogueTexts conditions;
  PredictionRequest request;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Says on which clusters a training job meets what is asked of it, on how many GPUs, in what time and for how "
      "much, by simulation.",
      "hbench choose");
  app.footer(
      "Examples:\n  hbench choose --workload resnet50 --target 90% --gpus 8..64\n"
      "  hbench choose --workload vgg16 --gpus 1..64 --epochs 90 --deadline 24h --budget 2000usd\n"
      "  hbench choose --workload vgg16 --gpu a100,h100 --provider aws,google\n"
      "  hbench choose --workload gpt2_small --profile dgx-a100 --single-gpu-rate 45 --samples 10M --preset ddp\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|presets");
  app.add_option("--workload", workload, "a timeline, or a file of your own")->capture_default_str();
  app.add_option("--gpus", gpus, "GPU counts: 1..256 doubles, 1..12:1 counts, 1,2,4 lists")->capture_default_str();
  app.add_option("--profile", profiles, "only these clusters, or TOML files of your own (comma list)");
  add_catalogue_options(app, conditions, "without --profile: ");
  app.add_option("--target", texts.target, "least efficiency (default, without deadline and budget: 90%)");
  app.add_option("--samples", texts.samples, "samples to train on, such as 115M");
  app.add_option("--epochs", texts.epochs, "the same in epochs of ImageNet's 1,281,167 images");
  app.add_option("--deadline", texts.deadline, "most time, such as 6h, 90min or 2d");
  app.add_option("--budget", texts.budget,
                 "most money, such as 500usd; only clusters with a price in that currency are compared");
  app.add_option("--algorithm", algorithms, "algorithms to choose from (comma list; default: ring,ps)");
  app.add_option("--compressor", compressors, "compressors to choose from (comma list; default: none)");
  app.add_option("--preset", presets, "frameworks to choose from, instead of algorithms (comma list)");
  app.add_option("--batch", request.batch, "samples per GPU and step")->check(in_range(1, 1'000'000));
  app.add_option("--single-gpu-rate", request.single_gpu_rate, "samples/s of one GPU, the same on all clusters")
      ->check({check_rate, ""});
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  const Goals goals = parse_goals(texts);
  const CatalogueFilter filter = parse_catalogue_filter(conditions);
  if (!profiles.empty() && !conditions.none())
    throw Error(ExitCode::usage, "--profile names the clusters, and conditions choose them", "give one of the two");
  const Data data = load_data();
  request.gpus = parse_gpu_range(gpus);
  request.workloads = {workload};
  request.profiles = profiles.empty() ? clusters_for(workload, request.single_gpu_rate > 0, filter, data)
                                      : split_list(profiles, "--profile");
  if (!presets.empty()) request.presets = split_list(presets, "--preset");
  if (!algorithms.empty()) request.algorithms = split_list(algorithms, "--algorithm");
  request.compressors =
      compressors.empty() ? std::vector<std::string>{"none"} : split_list(compressors, "--compressor");
  request.placements = {"sliced"};
  request.servers = {{.colocated = true, .count = 0}};
  request.evidence = {Evidence::simulated};
  output.check();
  catch_interrupts();
  Progress progress(0, verbosity);
  const Choice choice = choose(request, goals, data, simulation_means(progress));
  progress.clear();
  if (choice.alternatives.empty())
    throw Error(ExitCode::usage, "nothing is left to choose from", reasons(choice.refused));
  output.deliver(choice_document(choice), [&] { return choice_json(choice); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kChoose;
constinit const Verb kChoose{
    .name = "choose", .summary = "say on which cluster a training job should run", .run = run_choose};

}  // namespace hbench
