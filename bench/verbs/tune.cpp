#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "analysis/fingerprint.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/store/store.hpp"
#include "analysis/timed_steps.hpp"
#include "analysis/trial.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/labels.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/output_file.hpp"
#include "bench/output/terminal.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/sweep/plan.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/report.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/models/models.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::size_t kMostMeasured = 24;
constexpr std::size_t kMostSimulated = 48;

struct TuneOptions {
  std::string workload, profile, algorithm = "ring", compressor = "none", fusion = "horovod", budget = "2min";
  int ranks = 2, gpus = 0, batch = 0, steps = 20;
  int image_size = 0;  ///< 0: as a sweep's
  std::filesystem::path database = "hbench.db";
  double steps_seconds = 1.5;
  std::vector<std::string> labels;
  bool json = false, wide = false;
  Verbosity verbosity = Verbosity::usual;

  bool simulated() const { return !profile.empty(); }
};

class Tuner {
 public:
  Tuner(const Call& call, TuneOptions options) : options_(std::move(options)), data_(load_data()) {
    tuning_.workload = options_.workload;
    tuning_.algorithm = parse_algorithm_rule(options_.algorithm).text();
    tuning_.compressor = parse_compressor(options_.compressor).text();
    tuning_.gpus = options_.simulated() ? options_.gpus : options_.ranks;
    if (!options_.simulated()) machine_ = local_machine(options_.ranks);
    tuning_.profile = options_.profile;
    measure_.program = installation().worker.string();
    measure_.steps = options_.steps;
    measure_.budget = Seconds(options_.steps_seconds);
    measure_.traced_steps = 0;
    run_ = {call.command, HBENCH_VERSION, now_utc(), {}, parse_labels(options_.labels)};
    run_.labels[kTuningLabel] = options_.fusion;
  }

  ExitCode run() {
    if (options_.simulated())
      simulate();
    else if (!race())
      return interruption();
    if (options_.json)
      fmt::print("{}", tuning_json(tuning_));
    else
      fmt::print("{}\n{}", terminal_text({.blocks = {tuning_table(tuning_)}}, options_.wide), tuning_advice(tuning_));
    return std::ranges::all_of(tuning_.settings, [](const TunedSetting& s) { return s.standing.median == 0; })
               ? ExitCode::lost_rank
               : ExitCode::good;
  }

 private:
  /// A policy stands for its grid, a policy with parameters for itself: the same one twice is raced against itself.
  std::vector<std::string> candidates(std::int64_t bytes, std::size_t most) const {
    const std::vector<std::string> asked = split_list(options_.fusion, "--fusion");
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

  Plan plan_of(const std::vector<std::string>& fusions) const {
    SweepRequest request;
    request.gpus = {tuning_.gpus};
    request.workloads = {options_.workload};
    request.algorithms = {options_.algorithm};
    request.compressors = {options_.compressor};
    request.fusions = fusions;
    request.batch = options_.batch;
    request.image_size = options_.image_size;
    if (options_.simulated()) request.profiles = {options_.profile};
    request.evidence = {options_.simulated() ? Evidence::simulated : Evidence::measured};
    // One choice where a sweep compares several.
    if (parse_algorithm_rule(options_.algorithm).uses_servers()) {
      request.placements = {"greedy"};
      request.servers = {{.colocated = false, .count = 0}};
    }
    Plan plan = make_plan(request, data_, machine_);
    std::erase_if(plan.cases, [](const Case& asked) { return !asked.strategy.communicates(); });
    if (plan.cases.empty())
      throw Error(ExitCode::usage, plan.refused.empty() ? "nothing to tune: no algorithm" : plan.refused.front().why,
                  "hbench list algorithms, hbench list compressors");
    return plan;
  }

  static const Case& case_of(const Plan& plan, const std::string& fusion) {
    const auto found = std::ranges::find(plan.cases, fusion, [](const Case& asked) { return asked.strategy.fusion; });
    if (found != plan.cases.end()) return *found;
    throw Error(ExitCode::usage, plan.refused.empty() ? fusion + " was left out" : plan.refused.front().why);
  }

  void simulate() {
    const Trace trace = data_.traces.load(options_.workload);
    std::int64_t elements = 0;
    for (const GradientEvent& gradient : trace.timeline.gradients) elements += gradient.elements;
    const std::vector<std::string> fusions = candidates(elements * kFloat, kMostSimulated);
    const Plan plan = plan_of(fusions);
    SimulatedRunner runner(plan.catalog);
    std::vector<double> seconds;
    for (const std::string& fusion : fusions)
      for (const Sample& sample : runner.run(case_of(plan, fusion)).samples)
        if (sample.metric == "step_seconds") seconds.push_back(sample.value);
    const std::vector<Standing> standings = simulated_standings(seconds);
    for (std::size_t i = 0; i < fusions.size(); ++i) tuning_.settings.push_back({fusions[i], standings[i]});
  }

  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  /// A setting's launches on their way into the database.
  struct Launched {
    int count = 0;
    std::optional<std::int64_t> stored;  ///< its case
  };

  /// The median step of one launch; 0 when it failed. `into` is null for what is not to be stored.
  double launch(const Case& asked, Launched& launched, Store* into) {
    LaunchOutcome outcome;
    try {
      outcome = measure_launch(asked, measure_, launched.count++);
    } catch (const Error& error) {
      failure_ = fmt::format("{}; {}", error.what(), error.hint());
      return 0;
    }
    if (interrupted()) return 0;
    if (outcome.code != ExitCode::good) failure_ = outcome.reason;
    CaseResult result;
    result.asked = asked;
    result.samples = std::move(outcome.samples);
    const TimedSteps steps = timed_steps(result);
    if (steps.launches.empty()) return 0;
    if (into != nullptr) keep(result, launched, *into);
    return median_of_launches(steps.launches);
  }

  void keep(CaseResult& result, Launched& launched, Store& store) {
    if (launched.stored) return store.add(*launched.stored, result.samples);
    if (!run_id_) run_.environment = environment_facts(result.asked.training.on_gpu());
    place_on_this_machine(result.asked, run_);
    if (!run_id_) run_id_ = store.begin_run(run_);
    launched.stored = store.append(*run_id_, result);
  }

  /// False when interrupted.
  bool race() {
    const double begin = now();
    const double budget = parse_seconds(options_.budget).value;
    if (!(budget > 0))
      throw Error(ExitCode::usage, fmt::format("--budget {} leaves no time for a launch", options_.budget),
                  "give a time such as 2min");
    if (const Availability training = training_availability(); !training.available) throw training.error();
    const std::int64_t bytes = find_entry(models(), options_.workload, "model").parameters * kFloat;
    if (candidates(bytes, kMostMeasured).size() < 2)
      throw Error(ExitCode::usage, fmt::format("{} leaves nothing to choose from", options_.fusion),
                  "give a policy with parameters, or several with commas");
    // Warms up the machine, and shows what a launch takes.
    const std::string reference = candidates(bytes, 1).front();
    Store store(options_.database);
    catch_interrupts();
    Launched warm_up;
    const double first = launch(case_of(plan_of({reference}), reference), warm_up, nullptr);
    if (interrupted()) return false;
    if (first == 0) throw Error(ExitCode::lost_rank, failure_, "hbench doctor looks for the reason");
    const double cost = now() - begin;
    const std::vector<std::string> fusions = affordable(bytes, cost, budget);
    const Plan plan = plan_of(fusions);
    Race race(fusions.size(), static_cast<int>((budget - cost) / cost));
    std::vector<Launched> launched(fusions.size());
    Progress progress(race.planned(), options_.verbosity);
    while (const auto setting = race.next()) {
      progress.doing(fmt::format("{}, launch {} of {}", fusions[*setting], race.launched() + 1, race.planned()));
      const double step = launch(case_of(plan, fusions[*setting]), launched[*setting], &store);
      if (interrupted()) return false;
      if (step > 0)
        race.record(step);
      else
        race.fail();
      progress.done(1, fmt::format("{}: {}", fusions[*setting], step > 0 ? format(Seconds(step)) : failure_));
    }
    const std::vector<Standing> standings = race.standings();
    for (std::size_t i = 0; i < fusions.size(); ++i) tuning_.settings.push_back({fusions[i], standings[i]});
    return true;
  }

  /// As many settings as can be raced within the budget.
  std::vector<std::string> affordable(std::int64_t bytes, double cost, double budget) const {
    const auto needed = [&](std::size_t settings) { return (1 + Race::fewest_launches(settings)) * cost; };
    std::size_t most = kMostMeasured;
    while (most > 2 && needed(candidates(bytes, most).size()) > budget) --most;
    std::vector<std::string> fusions = candidates(bytes, most);
    if (needed(fusions.size()) > budget)
      throw Error(
          ExitCode::usage,
          fmt::format("a launch takes {}, and {} settings need {} of them: {} is too short", format(Seconds(cost)),
                      fusions.size(), 1 + Race::fewest_launches(fusions.size()), options_.budget),
          fmt::format("give --budget {:.0f}s or more", std::ceil(needed(fusions.size()) * 1.1)));
    return fusions;
  }

  ExitCode interruption() const {
    fmt::print(stderr, "hbench: interrupted; a tuning that is cut short says nothing; its launches are in {}\n",
               options_.database.string());
    return ExitCode::interrupted;
  }

  TuneOptions options_;
  Data data_;
  LocalMachine machine_ = machine_at_rest();
  MeasureOptions measure_;
  Tuning tuning_;
  std::string failure_;
  Run run_;
  std::optional<std::int64_t> run_id_;  ///< once there is something to store
};

ExitCode run_tune(const Call& call) {
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
  Option* ranks = app.add_option("--ranks", options.ranks, "workers on this machine")
                      ->check(in_range(1, 1024))
                      ->capture_default_str();
  Option* profile = app.add_option("--profile", options.profile, "simulate on this cluster instead");
  profile->excludes(ranks);
  app.add_option("--gpus", options.gpus, "GPUs of the simulated cluster")
      ->check(in_range(1, 1'000'000))
      ->needs(profile);
  app.add_option("--algorithm", options.algorithm, "hbench list algorithms")->capture_default_str();
  app.add_option("--compressor", options.compressor, "hbench list compressors")->capture_default_str();
  app.add_option("--fusion", options.fusion,
                 "policies, each tried with a grid of parameters, or settings to compare (comma list)")
      ->capture_default_str();
  app.add_option("--budget", options.budget, "time for all launches")->capture_default_str();
  app.add_option("--batch", options.batch, "samples per GPU and step")->check(in_range(1, 1'000'000));
  app.add_option("--image-size", options.image_size,
                 "image size of measured runs in pixels (default: 64 on CPU cores, 224 on GPUs)")
      ->check(in_range(1, 4096));
  app.add_option("--steps", options.steps, "timed steps per launch, at most")
      ->check(in_range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--db", options.database, "results database that stores the launches of measured settings")
      ->capture_default_str();
  app.add_option("--label", options.labels, kLabelHelp);
  app.add_flag("--json", options.json, "print the settings as JSON instead of a table");
  app.add_flag("--wide", options.wide, kWideHelp);
  add_verbosity(app, options.verbosity);
  if (app.parse(call)) return ExitCode::good;
  if (options.workload.empty()) options.workload = options.simulated() ? "resnet50" : "resnet18";
  if (options.simulated() && options.gpus == 0) options.gpus = 16;
  return Tuner(call, std::move(options)).run();
}

}  // namespace

extern const Verb kTune;
constinit const Verb kTune{
    .name = "tune",
    .summary = "find the best fusion threshold, cycle or bucket size, and say which differences are noise",
    .run = run_tune,
};

}  // namespace hbench
