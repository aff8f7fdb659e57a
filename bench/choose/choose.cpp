#include <fmt/format.h>

#include <array>
#include <chrono>

#include "analysis/choose/choose.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "bench/output/feature.hpp"
#include "bench/sweep/prediction_options.hpp"
#include "reports/choose/choice.hpp"

namespace hbench {
namespace {

/// Every cluster that meets the conditions and has a rate of one GPU for the workload, where none is named.
std::vector<std::string> clusters_for(const PredictionRequest& request, const CatalogueFilter& filter,
                                      const Data& data) {
  const Trace trace = data.traces.load(request.workloads.front());
  const RateModel rates(data.profiles.gpus());
  std::vector<std::string> clusters;
  for (const Profile& profile : matching_profiles(all_profiles(data.profiles), filter))
    if (request.rate_on(profile.gpu) > 0 || rates.rate(profile, trace, request.precision) ||
        is_recorded_on(trace, profile))
      clusters.push_back(profile.name);
  if (clusters.empty())
    throw Error(ExitCode::usage, fmt::format("no cluster has a rate of one GPU for {}", trace.name),
                "give --rate h100=SAMPLES_PER_SECOND, or --profile with a file of your own that has one");
  return clusters;
}

/// What is compared where nothing else is asked for.
PredictionRequest usual_request() {
  PredictionRequest request;
  request.workloads = {"resnet50"};
  request.precision = kUsualPrecision;
  request.compressors = {"none"};
  request.placements = {"sliced"};
  request.servers = {{.colocated = true, .count = 0}};
  request.rings_alone = true;
  return request;
}

/// For one of the workloads of `request`. \throws Error as `choose`, and (usage) where every cluster is left out.
Choice choose_for(const std::string& workload, PredictionRequest request, const Goals& goals,
                  const CatalogueFilter& filter, const Data& data, const SimulationMeans& means) {
  const std::string which = request.workloads.size() > 1 ? " for " + workload : "";
  request.workloads = {workload};
  if (request.profiles.empty()) request.profiles = clusters_for(request, filter, data);
  Choice choice = choose(request, goals, data, means);
  if (choice.alternatives.empty())
    throw Error(ExitCode::usage, fmt::format("nothing is left to choose from{}", which), reasons(choice.refused));
  choice.today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return choice;
}

ExitCode run_choose(const Call& call) {
  GoalTexts texts;
  CatalogueTexts conditions;
  PredictionRequest request = usual_request();
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Says on which clusters a training job, or each of several, meets what is asked of it, on how many GPUs, in what "
      "time and for how much, by simulation.",
      "hbench choose");
  app.footer(
      "Examples:\n  hbench choose --workload resnet50 --target 90% --gpus 8..64\n"
      "  hbench choose --workload vgg16 --gpus 1..64 --epochs 90 --deadline 24h --budget 2000usd\n"
      "  hbench choose --workload resnet50,bert_large --gpu a100,h100 --provider aws,google\n"
      "  hbench choose --workload gpt2_small --profile dgx-a100 --single-gpu-rate 45 --samples 10M --preset ddp\n"
      "  hbench choose --workload llama2-7b --profile coreweave-h200 --gpus 8..64 --samples 10M\n"
      "  hbench choose --workload llama2-7b --gpu h100 --gpus 64..512 --samples 1G --method fsdp --mtbf usual\n"
      "The default is a ring; parameter servers are compared by --algorithm ring,ps.\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|presets");
  add_workloads(app, request.workloads);
  add_strategy_options(app, request, "1..256");
  app.add_list("--profile", request.profiles, "only these clusters, or TOML files of your own (comma list)");
  add_catalogue_options(app, conditions, "without --profile: ");
  app.add_option("--target", texts.target, "least efficiency (default, without deadline and budget: 90%)");
  app.add_option("--samples", texts.samples, "samples to train on, such as 115M");
  app.add_option("--epochs", texts.epochs, "the same in epochs of ImageNet's 1,281,167 images");
  app.add_option("--deadline", texts.deadline, "most time, such as 6h, 90min or 2d");
  app.add_option("--budget", texts.budget,
                 "most money, such as 500usd; only clusters with a price in that currency are compared");
  app.add_option("--mtbf", texts.failures.mtbf,
                 "hours that one GPU works between failures that end its job, such as 55000h, or usual: counts what "
                 "failures and checkpoints cost");
  app.add_option(
      "--checkpoint-time", texts.failures.checkpoint_time,
      "with failures: for which a checkpoint keeps the training waiting, such as 30s (default: by its bytes)");
  app.add_option("--restart-time", texts.failures.restart_time,
                 "with failures: from one until the job trains again (default: 11min)");
  app.add_option("--spot", texts.failures.spot,
                 "with failures: mean time until a node that is bought as spot is taken back, such as 180d, or usual");
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  Goals goals = parse_goals(texts);
  const CatalogueFilter filter = parse_catalogue_filter(conditions);
  if (!request.profiles.empty() && !conditions.none())
    throw Error(ExitCode::usage, "--profile names the clusters, and conditions choose them", "give one of the two");
  output.check();
  const std::vector<Choice> choices = predicted(verbosity, [&](const Data& data, const SimulationMeans& means) {
    std::vector<Choice> all;
    for (const std::string& workload : request.workloads) {
      all.push_back(choose_for(workload, request, goals, filter, data, means));
      all.back().flags = strategy_flags(call);
      all.back().profiles = request.profiles;
      // Costs of all workloads stand in one column.
      goals.currency = all.front().goals.currency;
    }
    return all;
  });
  output.deliver(choice_document(choices, !output.for_terminal()), [&] { return choice_json(choices); });
  return ExitCode::good;
}

/// An answer with what its description looks up.
Choice described_choice() {
  Choice choice;
  choice.catalog.profiles[""] = {};
  return choice;
}

constexpr Verb kChoose{
    .name = "choose", .summary = "say on which cluster a training job should run", .place = 4, .run = run_choose};
constexpr std::array kChooseVerbs{&kChoose};
constexpr std::array kChooseSchemas{
    PublishedSchema{"choose-1", [] { return choice_json(described_choice(), Form::schema); }},
    PublishedSchema{"choose-several-1", [] { return choice_json(std::vector{described_choice()}, Form::schema); }},
};

}  // namespace

extern const Feature kChooseFeature;
constinit const Feature kChooseFeature{.verbs = kChooseVerbs, .schemas = kChooseSchemas};

}  // namespace hbench
