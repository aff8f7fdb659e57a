#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "analysis/fingerprint.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/rank_hosts.hpp"
#include "analysis/store/store.hpp"
#include "analysis/timed_steps.hpp"
#include "bench/calibrate/sweep_calibration.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/emulation/emulated_case.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/output_file.hpp"
#include "bench/output/points_json.hpp"
#include "bench/output/reporting.hpp"
#include "bench/output/terminal.hpp"
#include "bench/output/titles.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/plan.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/report.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

/// Timed steps of an emulated launch, at most: each takes as long as a hundred.
constexpr int kEmulatedSteps = 1;

/// One sweep from plan to report.
class Sweep {
 public:
  Sweep(const Call& call, SweepOptions options)
      : options_(std::move(options)),
        data_(load_data()),
        machine_(machine_for_request()),
        plan_(make_plan(options_.request, data_, machine_)) {
    plan_calibrations();
    options_.measure.program = installation().worker.string();
    options_.measure.allocation = machine_.allocation;
    for (const AllocatedHost& host : machine_.allocation.hosts) options_.measure.run_hosts.push_back(host.name);
    run_.command = call.command;
  }

  ExitCode run() {
    if (options_.dry_run) {
      plan_emulations();
      return print_plan(), ExitCode::good;
    }
    try_worker();
    look_at_hosts_before();
    describe_run();
    plan_emulations();
    check_report_folder(options_.report);
    Store store(options_.database);
    catch_interrupts();
    execute(store);
    const ExitCode code = publish(store);
    return interrupted() ? report_interruption() : code;
  }

 private:
  LocalMachine machine_for_request() const {
    LocalMachine machine = options_.measures() ? machine_around() : machine_at_rest();
    if (!options_.emulates()) return machine;
    const Availability emulation = emulation_availability();
    if (!emulation.available) machine.limits.no_emulation = emulation.in_words();
    return machine;
  }

  LocalMachine machine_around() const {
    LocalMachine machine = local_machine(options_.oversubscribe, allocation_of(options_.hosts.named));
    if (const std::string& note = machine.allocation.note; !note.empty()) fmt::print(stderr, "hbench: {}\n", note);
    if (machine.allocation.is_local()) return machine;
    return machine_before_answers(std::move(machine), options_.request);
  }

  void plan_calibrations() { calibration_ = plan_calibration(options_.request, machine_, plan_, options_.calibration); }

  bool measures_here() const {
    return std::ranges::any_of(plan_.cases, [&](const Case& asked) { return is_launched_here(asked); });
  }

  /// Without a worker that starts nothing is measured; the rest is done.
  void try_worker() {
    if (!measures_here()) return;
    const Availability training = training_availability();
    if (training.available) return;
    machine_.no_training = training.in_words();
    plan_ = make_plan(options_.request, data_, machine_);
    plan_calibrations();
  }

  /// Hosts on which no job can run end the sweep before it begins; those that only differ are named. The plan is made
  /// again with what they have.
  void look_at_hosts_before() {
    const Allocation& hosts = options_.measure.allocation;
    if (hosts.is_local() || !options_.preflight || !measures_here()) return;
    preflight_ = look_at_hosts(hosts, options_.measure.program, options_.measure.network, options_.measure.host);
    if (!preflight_.problems.obstacles.empty()) throw cannot_run(preflight_);
    options_.measure.network = preflight_.network;
    machine_ = machine_of_hosts(std::move(machine_), preflight_.hosts);
    plan_ = make_plan(options_.request, data_, machine_);
    plan_calibrations();
    if (trains_on_gpus() && !machine_.asked_for) require_gpus_for_slots(hosts, preflight_.hosts, most_sharing());
  }

  /// Who answers, and on what machine: its libraries are asked, which takes half a second.
  void describe_run() {
    run_ = {run_.command, HBENCH_VERSION, now_utc(), environment_of_hosts(), options_.labels};
    remember_titles(run_, plan_.catalog, data_);
    for (Case& asked : plan_.cases) place_on_this_machine(asked, run_);
    if (calibration_)
      for (Case& asked : calibration_->baselines) place_on_this_machine(asked, run_);
  }

  /// Of the first host; this machine may be another one.
  std::map<std::string, std::string> environment_of_hosts() const {
    if (!preflight_.hosts.empty()) return environment_of(preflight_);
    std::map<std::string, std::string> facts = environment_facts(trains_on_gpus());
    if (!options_.measure.run_hosts.empty())
      facts[std::string(kHostsFact)] = fmt::format("{}", fmt::join(options_.measure.run_hosts, ", "));
    return facts;
  }

  int most_sharing() const {
    int most = 1;
    for (const Case& asked : plan_.cases) most = std::max(most, asked.processes_per_gpu);
    return most;
  }

  bool trains_on_gpus() const {
    return std::ranges::any_of(plan_.cases, [](const Case& asked) { return asked.training.on_gpu(); });
  }

  double cost(const Case& asked, const Plan& plan) const {
    if (asked.evidence == Evidence::simulated) return simulation_time(asked, plan.catalog).value;
    if (is_of_emulated_cluster(asked, plan.catalog)) return emulated_times_.at(&asked);
    return options_.measure.launches * launch_cost();
  }
  double launch_cost() const { return options_.measure.launch_seconds(); }

  /// What measured cases may take beyond the estimate.
  std::string more_in_words() const {
    const auto measured =
        std::ranges::count_if(plan_.cases, [&](const Case& asked) { return is_launched_here(asked); });
    if (measured == 0 || options_.measure.more == 0) return "";
    return fmt::format(", and at most {:.0f} s more where figures scatter",
                       static_cast<double>(measured * options_.measure.more) * launch_cost());
  }

  /// As one of this machine's own, measured in turn with others.
  bool is_launched_here(const Case& asked) const {
    return asked.is_timed() && !is_of_emulated_cluster(asked, plan_.catalog);
  }

  MeasureOptions emulation_launches() const {
    MeasureOptions options = options_.measure;
    options.launches = options_.emulated_launches;
    options.steps = std::min(options.steps, kEmulatedSteps);
    // Each step is stretched: their number bounds a launch.
    options.budget = Seconds(0);
    return options;
  }

  /// Chooses how each emulated case is dilated.
  void plan_emulations() {
    SimulatedRunner simulated(plan_.catalog, interrupted);
    const EmulationOptions options{
        .dilation = options_.dilation, .cores = options_.measure.host.cores, .faults = emulated_faults()};
    for (const Case& asked : plan_.cases) {
      if (!is_of_emulated_cluster(asked, plan_.catalog)) continue;
      const EmulatedCase& emulated =
          emulated_.emplace(&asked, emulated_case(asked, plan_.catalog, simulated, options)).first->second;
      const MeasureOptions launches = emulation_launches();
      emulated_times_[&asked] = launches.launches * emulated_launch_time(emulated, launches).value;
    }
  }

  void print_plan() const {
    double seconds = 0;
    for (const Case& asked : plan_.cases) {
      seconds += cost(asked, plan_);
      const auto emulated = emulated_.find(&asked);
      fmt::print("{:9} {:14} {:5} GPUs  {:40} {}{}\n", to_string(asked.evidence), asked.workload, asked.gpus,
                 asked.strategy_label(), asked.profile,
                 emulated == emulated_.end() ? ""
                                             : fmt::format(", dilated {:g} times, {:.0f} s",
                                                           emulated->second.cluster.dilation, cost(asked, plan_)));
    }
    for (const Refusal& refusal : plan_.refused) fmt::print("left out  {}: {}\n", refusal.what, refusal.why);
    if (calibration_) {
      seconds += calibration_->seconds();
      fmt::print("calibrate {}\n", calibration_->in_words());
    }
    fmt::print("{} cases and {} published points, about {:.0f} s{}\n", plan_.cases.size(), plan_.published.size(),
               seconds, more_in_words());
  }

  /// The same question, place and code: another revision, or another commit of what is measured, does it again.
  bool is_finished(const Case& asked, const std::set<std::string>& finished) const {
    return finished.contains(answer_key(asked, run_.producer()));
  }

  void execute(Store& store) {
    const std::set<std::string> finished = options_.resume ? finished_keys(store) : std::set<std::string>();
    std::vector<const Case*> simulated, emulated, measured;
    double total = 0;
    for (const Case& asked : plan_.cases) {
      if (is_finished(asked, finished)) continue;
      (asked.evidence == Evidence::simulated ? simulated
       : is_launched_here(asked)             ? measured
                                             : emulated)
          .push_back(&asked);
      total += cost(asked, plan_);
    }
    if (calibration_) total += calibration_->seconds();
    Progress progress(total, options_.verbosity);
    for (const Finding& difference : preflight_.problems.differences)
      progress.note(fmt::format("warning: {}: {} (fix: {})", difference.what, difference.state, difference.cure));
    for (const Refusal& refusal : plan_.refused)
      progress.note(fmt::format("left out: {}: {}", refusal.what, refusal.why));
    if (options_.resume)
      progress.note(fmt::format("resuming: {} of {} cases are in {}",
                                plan_.cases.size() - simulated.size() - emulated.size() - measured.size(),
                                plan_.cases.size(), options_.database.string()));
    const std::int64_t run = store.begin_run(run_);
    std::vector<CaseResult> published;
    for (const CaseResult& figure : plan_.published)
      if (!is_finished(figure.asked, finished)) published.push_back(figure);
    store.append(run, published);
    simulate_all(store, run, plan_, simulated, progress);
    // The answer does not wait for what takes minutes.
    if (!simulated.empty() && !interrupted() && (!measured.empty() || !emulated.empty() || calibration_)) {
      progress.clear();
      publish(store);
    }
    measure_all(store, run, measured, progress);
    emulate_all(store, run, emulated, progress);
    if (calibration_ && !interrupted()) extend(store, run, finished, progress);
    done_ = true;
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
      if (!is_finished(asked, finished)) simulated.push_back(&asked);
    simulate_all(store, run, extension_, simulated, progress);
  }

  /// Simulated cases are stored world by world: quick, and little is lost.
  void simulate_all(Store& store, std::int64_t run, const Plan& plan, const std::vector<const Case*>& cases,
                    Progress& progress) {
    SimulatedRunner runner(plan.catalog, interrupted);
    std::vector<CaseResult> batch;
    for (std::size_t i = 0; i < cases.size() && !interrupted(); ++i) {
      const Case& asked = *cases[i];
      progress.doing(fmt::format("simulating {} on {} x {}", asked.workload, asked.gpus, asked.profile));
      if (!simulate_one(runner, asked, batch)) break;
      const bool last = i + 1 == cases.size();
      const bool next_profile = last || cases[i + 1]->profile != asked.profile;
      progress.done(cost(asked, plan), next_profile ? fmt::format("simulated {}", asked.profile) : "");
      if (!next_profile) continue;
      store.append(run, batch);
      batch.clear();
    }
    if (!batch.empty()) store.append(run, batch);
  }

  /// False when Ctrl-C ended it: an unfinished case is not a result.
  static bool simulate_one(SimulatedRunner& runner, const Case& asked, std::vector<CaseResult>& results) {
    try {
      results.push_back(runner.run(asked));
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::interrupted) throw;
      return false;
    }
  }

  /// What need not be repeated: of measured cases those that have all their launches.
  std::set<std::string> finished_keys(const Store& store) const {
    std::set<std::string> keys = store.finished();
    if (!options_.measures()) return keys;
    for (const CaseResult& result : store.results())
      if (is_launched_here(result.asked) && std::ssize(timed_steps(result).launches) < options_.measure.launches)
        keys.erase(answer_key(result.asked, result.producer));
    return keys;
  }

  void measure_all(Store& store, std::int64_t run, const std::vector<const Case*>& cases, Progress& progress) {
    std::map<const Case*, std::int64_t> stored;
    const MeasuredHooks hooks{
        .doing = [&](const std::string& what) { progress.doing(what); },
        .launched =
            [&](bool extra) {
              if (extra) progress.more(launch_cost());
              progress.done(launch_cost());
            },
        .keep =
            [&](const Case& asked, const CaseResult& addition) {
              if (const auto known = stored.find(&asked); known != stored.end())
                store.add(known->second, addition.samples, addition.traced);
              else
                stored[&asked] = store.append(run, addition);
            },
        .finished = [&](const std::string& what) { progress.done(0, what); },
        .note = [&](const std::string& line) { progress.note(line); },
    };
    worst_ = std::max(worst_, measure_cases(plan_.cases, cases, options_.measure, 0, hooks));
  }

  /// Emulated cases, each stored when it ends.
  void emulate_all(Store& store, std::int64_t run, const std::vector<const Case*>& cases, Progress& progress) {
    const MeasureOptions options = emulation_launches();
    for (const Case* asked : cases) {
      if (interrupted()) return;
      const std::string name = fmt::format("{} on {}", case_name(*asked), asked->profile);
      const EmulatedCase& emulated = emulated_.at(asked);
      const CaseResult result = emulate(emulated, options, [&](int launch) {
        progress.doing(fmt::format("emulating {}, dilated {:g} times, launch {} of {}", name, emulated.cluster.dilation,
                                   launch + 1, options.launches));
      });
      if (interrupted()) return;
      store.append(run, result);
      const bool failed = result.status == CaseStatus::failed;
      if (failed) worst_ = std::max(worst_, static_cast<ExitCode>(result.exit_code));
      progress.done(cost(*asked, plan_),
                    failed ? fmt::format("failed: {}: {}", name, result.failure) : fmt::format("emulated {}", name));
    }
  }

  ExitCode report_interruption() const {
    fmt::print(stderr,
               "hbench: interrupted; every finished case is in {} and in the report\n  the same command with --resume "
               "does the "
               "rest\n",
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
    ReportInput input = report_input(results, store.baselines(), {run_}, data_);
    for (const Plan* plan : {&plan_, &extension_}) describe(input, plan->catalog);
    const Document report = kScalingReport.build(input);
    write_report_folder(report, options_.report);
    print_answer(summary(input.points, report), input.points);
    ExitCode worst = worst_;
    for (const CaseResult& result : results)
      if (result.status == CaseStatus::failed) worst = std::max(worst, static_cast<ExitCode>(result.exit_code));
    return worst;
  }

  /// Once, or before what takes minutes and after it; then only what came since.
  void print_answer(Document answer, const std::vector<Point>& points) {
    if (options_.json) {
      if (done_) fmt::print("{}", points_json(points));
      return;
    }
    const Document whole = answer;
    std::erase_if(answer.blocks,
                  [&](const Block& block) { return printed_.contains(text_of({.blocks = {block}}, kAnyWidth)); });
    for (const Block& block : whole.blocks) printed_.insert(text_of({.blocks = {block}}, kAnyWidth));
    fmt::print("{}", terminal_text(answer, options_.wide));
    fmt::print("\nReport: {}\nResults: {}\n", (options_.report / "index.html").string(), options_.database.string());
    std::fflush(stdout);
  }

  SweepOptions options_;
  Data data_;
  LocalMachine machine_;
  Plan plan_;
  Preflight preflight_;                           ///< of several hosts; else empty
  std::map<const Case*, EmulatedCase> emulated_;  ///< of the plan's cases
  std::map<const Case*, double> emulated_times_;  ///< seconds, all launches
  std::optional<CalibrationPlan> calibration_;
  Plan extension_;  ///< on nodes like this machine; empty without a calibration
  Run run_;
  ExitCode worst_ = ExitCode::good;  ///< of the launches of this run
  bool done_ = false;                ///< nothing is to come
  std::set<std::string> printed_;    ///< blocks of the answer, as text
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
