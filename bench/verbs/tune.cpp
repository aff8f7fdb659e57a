#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analysis/prediction/simulate.hpp"
#include "analysis/store/store.hpp"
#include "bench/command/inform.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/terminal.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/tune/report.hpp"
#include "bench/verbs/tune_launches.hpp"
#include "bench/verbs/tune_plan.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::size_t kMostSimulated = 48;

class Tuner {
 public:
  Tuner(const Call& call, TuneOptions options)
      : options_(std::move(options)), data_(load_data()), launches_(call, options_) {
    tuning_.workload = options_.workload;
    tuning_.algorithm = parse_algorithm_rule(options_.algorithm).text();
    tuning_.compressor = parse_compressor(options_.compressor).text();
    tuning_.gpus = options_.workers();
    if (!options_.simulated()) machine_ = local_machine(options_.ranks);
    tuning_.profile = options_.profile;
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
  void simulate() {
    const Trace trace = data_.traces.load(options_.workload);
    const std::vector<std::string> fusions =
        tuned_settings(options_, trace.timeline.all_elements() * kFloat, kMostSimulated);
    const Plan plan = tune_plan(options_, fusions, data_, machine_);
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

  /// False when interrupted.
  bool race() {
    const double begin = now();
    const double budget = parse_seconds(options_.budget).value;
    if (!(budget > 0))
      throw Error(ExitCode::usage, fmt::format("--budget {} leaves no time for a launch", options_.budget),
                  "give a time such as 2min");
    if (const Availability training = training_availability(); !training.available) throw training.error();
    const std::int64_t bytes = find_entry(models(), options_.workload, "model").parameters * kFloat;
    if (tuned_settings(options_, bytes, kMostMeasured).size() < 2)
      throw Error(ExitCode::usage, fmt::format("{} leaves nothing to choose from", options_.fusion),
                  "give a policy with parameters, or several with commas");
    // Warms up the machine, and shows what a launch takes.
    const std::string reference = tuned_settings(options_, bytes, 1).front();
    Store store(options_.database);
    catch_interrupts();
    LaunchedSetting warm_up;
    const double first =
        launches_.launch(case_of(tune_plan(options_, {reference}, data_, machine_), reference), warm_up, nullptr);
    if (interrupted()) return false;
    if (first == 0) throw Error(ExitCode::lost_rank, launches_.failure(), "hbench doctor looks for the reason");
    const double cost = now() - begin;
    const std::vector<std::string> fusions = affordable_settings(options_, bytes, cost, budget);
    const Plan plan = tune_plan(options_, fusions, data_, machine_);
    Race race(fusions.size(), static_cast<int>((budget - cost) / cost));
    std::vector<LaunchedSetting> launched(fusions.size());
    Progress progress(race.planned(), options_.verbosity);
    while (const auto setting = race.next()) {
      progress.doing(fmt::format("{}, launch {} of {}", fusions[*setting], race.launched() + 1, race.planned()));
      const double step = launches_.launch(case_of(plan, fusions[*setting]), launched[*setting], &store);
      if (interrupted()) return false;
      if (step > 0)
        race.record(step);
      else
        race.fail();
      progress.done(1,
                    fmt::format("{}: {}", fusions[*setting], step > 0 ? format(Seconds(step)) : launches_.failure()));
    }
    const std::vector<Standing> standings = race.standings();
    for (std::size_t i = 0; i < fusions.size(); ++i) tuning_.settings.push_back({fusions[i], standings[i]});
    return true;
  }

  ExitCode interruption() const {
    inform("hbench: interrupted; a tuning that is cut short says nothing; its launches are in {}\n",
           options_.database.string());
    return ExitCode::interrupted;
  }

  TuneOptions options_;
  Data data_;
  LocalMachine machine_ = machine_at_rest();
  TuneLaunches launches_;
  Tuning tuning_;
};

ExitCode run_tune(const Call& call) {
  auto options = parse_tune_options(call);
  return options ? Tuner(call, std::move(*options)).run() : ExitCode::good;
}

}  // namespace

extern const Verb kTune;
constinit const Verb kTune{
    .name = "tune",
    .summary = "find the best fusion threshold, cycle or bucket size, and say which differences are noise",
    .run = run_tune,
};

}  // namespace hbench
