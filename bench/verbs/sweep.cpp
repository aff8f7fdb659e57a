#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analysis/store/store.hpp"
#include "bench/console.hpp"
#include "bench/environment.hpp"
#include "bench/local_machine.hpp"
#include "bench/output_file.hpp"
#include "bench/points_json.hpp"
#include "bench/process.hpp"
#include "bench/reporting.hpp"
#include "bench/simulate.hpp"
#include "bench/sweep_options.hpp"
#include "reports/formats.hpp"
#include "reports/report.hpp"

namespace hbench {
namespace {

/// Start-up of ranks and LibTorch, warm-up and shut-down, for the estimate.
constexpr double kLaunchOverhead = 2.5;
constexpr double kSimulatedSeconds = 0.004;

/// One sweep from plan to report.
class Sweep {
 public:
  Sweep(const Call& call, SweepOptions options)
      : options_(std::move(options)),
        data_(load_data()),
        machine_(options_.measures() ? local_machine(options_.oversubscribe) : machine_at_rest()),
        plan_(make_plan(options_.request, data_, machine_)),
        calibration_(plan_calibration(options_.request, machine_, plan_, options_.calibration)) {
    options_.measure.program = call.program;
    run_ = {call.command, HBENCH_VERSION, now_utc(), environment_facts(trains_on_gpus())};
  }

  ExitCode run() {
    if (options_.dry_run) return print_plan(), ExitCode::good;
    check_report_folder(options_.report);
    Store store(options_.database);
    catch_interrupts();
    execute(store);
    if (interrupted()) return report_interruption();
    return publish(store);
  }

 private:
  bool trains_on_gpus() const {
    return std::ranges::any_of(plan_.cases, [](const Case& asked) { return asked.training.device == "gpu"; });
  }

  double cost(const Case& asked) const {
    if (asked.evidence == Evidence::simulated) return kSimulatedSeconds;
    return options_.measure.launches * (options_.measure.budget.value + kLaunchOverhead);
  }

  void print_plan() const {
    double seconds = 0;
    for (const Case& asked : plan_.cases) {
      seconds += cost(asked);
      fmt::print("{:9} {:14} {:5} GPUs  {:40} {}\n", to_string(asked.evidence), asked.workload, asked.gpus,
                 asked.strategy_label(), asked.profile);
    }
    for (const Refusal& refusal : plan_.refused) fmt::print("left out  {}: {}\n", refusal.what, refusal.why);
    if (calibration_) {
      seconds += calibration_->seconds();
      fmt::print("calibrate {}\n", calibration_->in_words());
    }
    fmt::print("{} cases and {} published points, about {:.0f} s\n", plan_.cases.size(), plan_.published.size(),
               seconds);
  }

  void execute(Store& store) {
    const std::set<std::string> finished = options_.resume ? store.finished_keys() : std::set<std::string>();
    std::vector<const Case*> simulated, measured;
    double total = 0;
    for (const Case& asked : plan_.cases) {
      if (finished.contains(asked.key())) continue;
      (asked.evidence == Evidence::simulated ? simulated : measured).push_back(&asked);
      total += cost(asked);
    }
    if (calibration_) total += calibration_->seconds();
    Progress progress(total, options_.quiet);
    for (const Refusal& refusal : plan_.refused)
      progress.note(fmt::format("left out: {}: {}", refusal.what, refusal.why));
    if (options_.resume)
      progress.note(fmt::format("resuming: {} of {} cases are in {}",
                                plan_.cases.size() - simulated.size() - measured.size(), plan_.cases.size(),
                                options_.database.string()));
    const std::int64_t run = store.begin_run(run_);
    std::vector<CaseResult> published;
    for (const CaseResult& figure : plan_.published)
      if (!finished.contains(figure.asked.key())) published.push_back(figure);
    store.append(run, published);
    simulate_all(store, run, plan_, simulated, progress);
    for (const Case* asked : measured) {
      if (interrupted()) return;
      measure_one(store, run, *asked, progress);
    }
    if (calibration_ && !interrupted()) extend(store, run, finished, progress);
  }

  /// Simulates nodes like this machine. What fails of that is said, and costs nothing else.
  void extend(Store& store, std::int64_t run, const std::set<std::string>& finished, Progress& progress) {
    const std::filesystem::path folder = calibration_->folder(options_.database);
    try {
      calibrate(*calibration_, data_,
                {.program = options_.measure.program,
                 .folder = folder,
                 .reuse = options_.resume,
                 .results = store.results(),
                 .doing = [&](const std::string& now) { progress.doing(now); },
                 .note = [&](const std::string& line) { progress.note(line); }});
      if (interrupted()) return;
      extension_ = calibrated_plan(*calibration_, options_.request, data_, machine_, folder);
    } catch (const Error& error) {
      if (!interrupted())
        progress.note(fmt::format("no nodes like this machine are simulated: {}; {}", error.what(), error.hint()));
      return;
    }
    progress.done(calibration_->seconds(), fmt::format("calibrated in {}", folder.string()));
    std::vector<const Case*> simulated;
    for (const Case& asked : extension_.cases)
      if (!finished.contains(asked.key())) simulated.push_back(&asked);
    simulate_all(store, run, extension_, simulated, progress);
  }

  /// Simulated cases are stored world by world: quick, and little is lost.
  void simulate_all(Store& store, std::int64_t run, const Plan& plan, const std::vector<const Case*>& cases,
                    Progress& progress) {
    SimulatedRunner runner(plan.catalog);
    std::vector<CaseResult> batch;
    for (std::size_t i = 0; i < cases.size() && !interrupted(); ++i) {
      const Case& asked = *cases[i];
      progress.doing(fmt::format("simulating {} on {} x {}", asked.workload, asked.gpus, asked.profile));
      batch.push_back(runner.run(asked));
      const bool last = i + 1 == cases.size();
      const bool next_profile = last || cases[i + 1]->profile != asked.profile;
      progress.done(cost(asked), next_profile ? fmt::format("simulated {}", asked.profile) : "");
      if (!next_profile) continue;
      store.append(run, batch);
      batch.clear();
    }
    if (!batch.empty()) store.append(run, batch);
  }

  void measure_one(Store& store, std::int64_t run, const Case& asked, Progress& progress) {
    const std::string name = fmt::format("{} {} on {} {}{}", asked.workload, asked.strategy_label(), asked.gpus,
                                         asked.training.device == "gpu" ? "GPU" : "rank", asked.gpus == 1 ? "" : "s");
    CaseResult result;
    try {
      result = measure(asked, options_.measure, [&](int launch) {
        progress.doing(fmt::format("measuring {}, launch {} of {}", name, launch + 1, options_.measure.launches));
        if (launch > 0) progress.done(cost(asked) / options_.measure.launches);
      });
      if (interrupted()) return;  // an unfinished case is not a result
    } catch (const Error& error) {
      result.asked = asked;
      result.status = CaseStatus::failed;
      result.failure = fmt::format("{}; {}", error.what(), error.hint());
      result.exit_code = static_cast<int>(error.code());
    }
    store.append(run, result);
    if (result.status == CaseStatus::failed) progress.note(fmt::format("failed: {}: {}", name, result.failure));
    progress.done(cost(asked) / options_.measure.launches,
                  fmt::format("{} {}", result.status == CaseStatus::failed ? "failed  " : "measured", name));
  }

  ExitCode report_interruption() const {
    fmt::print(stderr,
               "hbench: interrupted; every finished case is in {}\n  the same command with --resume does the rest\n",
               options_.database.string());
    return ExitCode::interrupted;
  }

  /// The results of this plan, whichever run they come from.
  std::vector<CaseResult> planned_results(const Store& store) const {
    std::set<std::string> keys;
    for (const Plan* plan : {&plan_, &extension_})
      for (const Case& asked : plan->cases) keys.insert(asked.key());
    for (const CaseResult& figure : plan_.published) keys.insert(figure.asked.key());
    std::vector<CaseResult> results = store.results();
    std::erase_if(results, [&](const CaseResult& result) { return !keys.contains(result.asked.key()); });
    return results;
  }

  ExitCode publish(const Store& store) {
    const std::vector<CaseResult> results = planned_results(store);
    ReportInput input = report_input(results, {run_}, data_);
    for (const auto& [name, profile] : extension_.catalog.profiles) input.profile_titles[name] = profile.title;
    const Document report = kScalingReport.build(input);
    write_report_folder(report, options_.report);
    if (options_.json)
      fmt::print("{}", points_json(input.points));
    else
      fmt::print("{}", kTextFormat.render(summary(input.points, report)));
    if (!options_.json)
      fmt::print("\nReport: {}\nResults: {}\n", (options_.report / "index.html").string(), options_.database.string());
    ExitCode worst = ExitCode::good;
    for (const CaseResult& result : results)
      if (result.status == CaseStatus::failed) worst = std::max(worst, static_cast<ExitCode>(result.exit_code));
    return worst;
  }

  SweepOptions options_;
  Data data_;
  LocalMachine machine_;
  Plan plan_;
  std::optional<CalibrationPlan> calibration_;
  Plan extension_;  ///< on nodes like this machine; empty without a calibration
  Run run_;
};

ExitCode run_sweep(const Call& call) {
  auto options = parse_sweep_options(call);
  return options ? Sweep(call, std::move(*options)).run() : ExitCode::good;
}

}  // namespace

extern const Verb kSweep;
constinit const Verb kSweep{
    .name = "sweep",
    .summary = "sweep GPU counts: measure here, simulate the rest, compare with what was published",
    .run = run_sweep,
};

}  // namespace hbench
