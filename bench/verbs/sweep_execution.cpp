#include "bench/verbs/sweep_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/points/timed_steps.hpp"
#include "analysis/prediction/by_library.hpp"
#include "analysis/prediction/simulate_each.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/reporting.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// What need not be repeated: of measured cases those that have all their launches.
std::set<std::string> finished_keys(const SweepPreparation& sweep, const Store& store) {
  if (!sweep.options.resume) return {};
  std::set<std::string> keys = store.finished();
  if (!sweep.options.measures()) return keys;
  for (const CaseResult& result : store.results())
    if (result.asked.is_timed() && sweep.stage_of(result.asked) == Stage::in_turn &&
        std::ssize(timed_steps(result).launches) < sweep.options.measure.launches)
      keys.erase(answer_key(result.asked, result.producer));
  return keys;
}

/// Both plans of a sweep, stage by stage.
class SweepExecution {
 public:
  SweepExecution(SweepPreparation& sweep, Store& store)
      : sweep_(sweep),
        store_(store),
        finished_(finished_keys(sweep, store)),
        progress_(seconds_left(), sweep.options.verbosity) {}

  ExitCode run(const std::function<void()>& early) {
    announce();
    run_ = sweep_.run;
    run_.id = store_.begin_run(run_);
    run_stages(sweep_.plan, early);
    if (sweep_.calibration && !interrupted() && calibrate_machine()) run_stages(sweep_.calibrated, {});
    return worst_;
  }

 private:
  using Cases = std::vector<const PlannedCase*>;

  /// Whether another run has answered: the same question, place and code.
  bool is_finished(const Case& asked) const { return finished_.contains(answer_key(asked, sweep_.run.producer())); }
  /// The cases of a plan that are not finished.
  Cases left(const SweepPlan& plan, Stage stage) const {
    Cases cases;
    for (const PlannedCase& each : plan.cases)
      if (plan.work_of(each).stage == stage && !is_finished(each)) cases.push_back(&each);
    return cases;
  }
  /// Of all cases of the first plan that are left, and of the calibration.
  double seconds_left() const {
    double seconds = sweep_.calibration ? sweep_.calibration->seconds() : 0;
    for (const PlannedCase& each : sweep_.plan.cases)
      if (!is_finished(each)) seconds += sweep_.plan.work_of(each).seconds;
    return seconds;
  }

  void announce() {
    for (const Finding& difference : sweep_.preflight.problems.differences)
      progress_.note(fmt::format("warning: {}: {} (fix: {})", difference.what, difference.state, difference.cure));
    note_refusals(sweep_.plan);
    if (!sweep_.options.resume) return;
    const auto done = std::ranges::count_if(sweep_.plan.cases, [&](const Case& asked) { return is_finished(asked); });
    progress_.note(fmt::format("resuming: {} of {} cases are in {}", done, sweep_.plan.cases.size(),
                               sweep_.options.database.string()));
  }

  void note_refusals(const Plan& plan) {
    for (const Refusal& refusal : plan.refused)
      progress_.note(fmt::format("left out: {}: {}", refusal.what, refusal.why), true);
  }

  /// The answer, which `early` gives, does not wait for what takes minutes.
  void run_stages(const SweepPlan& plan, const std::function<void()>& early) {
    std::vector<CaseResult> published = plan.published;
    std::erase_if(published, [&](const CaseResult& figure) { return is_finished(figure.asked); });
    store_.append(run_.id, published);
    const Cases computed = left(plan, Stage::computed), in_turn = left(plan, Stage::in_turn),
                alone = left(plan, Stage::alone);
    simulate(plan, computed);
    if (interrupted()) return;
    if (early && !computed.empty() && (!in_turn.empty() || !alone.empty() || sweep_.calibration)) {
      progress_.clear();
      early();
    }
    measure(plan, in_turn);
    emulate_all(plan, alone);
  }

  void measure(const SweepPlan& plan, const Cases& cases) {
    std::vector<const Case*> measured;
    for (const PlannedCase* each : cases) measured.push_back(&each->asked);
    worst_ =
        std::max(worst_, measure_cases(plan.cases, measured, sweep_.options.measure, 0, {progress_, store_, run_}));
  }

  /// World by world: quick, and little is lost. What Ctrl-C has ended is no result.
  void simulate(const SweepPlan& plan, const Cases& cases) {
    std::vector<CaseResult> batch;
    const auto keep = [&] {
      if (!batch.empty()) store_.append(run_.id, batch);
      batch.clear();
    };
    std::size_t made = 0;
    const std::set<const PlannedCase*> flat = flat_cases(plan);
    // Other cases are simulated meanwhile.
    const std::int64_t memory = sweep_.machine.limits.memory / 4;
    const CaseFollower follower{
        .waits_for =
            [&](const Case& asked) {
              progress_.doing(fmt::format("simulating {} on {} x {}", asked.workload, asked.gpus, asked.profile));
            },
        .made =
            [&](CaseResult result) {
              const PlannedCase& planned = *cases[made++];
              if (flat.contains(&planned)) compare_with_library(result, planned, plan.catalog, memory, interrupted);
              batch.push_back(std::move(result));
              const bool next_profile = made == cases.size() || cases[made]->asked.profile != planned.asked.profile;
              progress_.done(plan.work_of(planned).seconds,
                             next_profile ? fmt::format("simulated {}", planned.asked.profile) : "");
              if (next_profile) keep();
            }};
    try {
      simulate_each(cases, plan.catalog, {.memory = sweep_.machine.limits.memory, .stop = interrupted}, follower);
    } catch (const Error& error) {
      if (error.code() != ExitCode::interrupted) throw;
    }
    keep();
  }

  /// How long those of a calibrated plan take is known by the timeline that was recorded.
  void announce_emulations(const SweepPlan& plan, const Cases& cases) {
    if (cases.empty()) return;
    double seconds = 0;
    for (const PlannedCase* each : cases) seconds += plan.work_of(*each).seconds;
    progress_.more(seconds);
    progress_.note(fmt::format("emulating {} of nodes like this machine: about {:.0f} s",
                               counted(std::ssize(cases), "case"), seconds));
  }

  void emulate_all(const SweepPlan& plan, const Cases& cases) {
    const MeasureOptions options = sweep_.emulation_launches();
    if (&plan == &sweep_.calibrated) announce_emulations(plan, cases);
    for (const PlannedCase* each : cases) {
      if (interrupted()) return;
      const std::string name = fmt::format("{} on {}", case_name(*each), each->asked.profile);
      const CaseWork& work = plan.work_of(*each);
      const CaseResult result = emulate(*work.emulated, options, [&](int launch) {
        progress_.doing(fmt::format("emulating {}, dilated {:g} times, launch {} of {}", name,
                                    work.emulated->cluster.dilation, launch + 1, options.launches));
      });
      if (interrupted()) return;
      store_.append(run_.id, result);
      const bool failed = result.status == CaseStatus::failed;
      if (failed) worst_ = std::max(worst_, static_cast<ExitCode>(result.exit_code));
      progress_.done(work.seconds,
                     failed ? fmt::format("failed: {}: {}", name, result.failure) : fmt::format("emulated {}", name));
    }
  }

  /// Plans nodes like this machine. A failure to calibrate it is printed, and costs nothing else. Returns whether there
  /// is such a plan.
  bool calibrate_machine() {
    const CalibrationPlan& calibration = *sweep_.calibration;
    const std::filesystem::path folder = calibration.folder(sweep_.options.database);
    try {
      calibrate(calibration, sweep_.data,
                {.measure = sweep_.options.measure,
                 .folder = folder,
                 .reuse = sweep_.options.resume,
                 .results = store_.results(),
                 .progress = progress_});
      if (interrupted()) return false;
      sweep_.calibrated = {calibrated_plan(calibration, sweep_.options.request, sweep_.data, sweep_.machine, folder)};
    } catch (const Error& error) {
      if (!interrupted())
        progress_.note(fmt::format("no nodes like this machine are predicted: {}; {}", error.what(), error.hint()));
      return false;
    }
    progress_.done(calibration.seconds(), fmt::format("calibrated in {}", folder.string()));
    std::erase_if(sweep_.calibrated.refused, [&](const Refusal& each) {
      return std::ranges::find(sweep_.plan.refused, each) != sweep_.plan.refused.end();
    });
    note_refusals(sweep_.calibrated);
    estimate(sweep_.calibrated, sweep_);
    return true;
  }

  SweepPreparation& sweep_;
  Store& store_;
  const std::set<std::string> finished_;  ///< keys of answers
  Progress progress_;
  Run run_{};
  ExitCode worst_ = ExitCode::good;
};

}  // namespace

ExitCode run_cases(SweepPreparation& sweep, Store& store, const std::function<void()>& early) {
  return SweepExecution(sweep, store).run(early);
}

std::vector<CaseResult> planned_results(const SweepPreparation& sweep, const Store& store) {
  std::set<std::string> keys;
  for (const SweepPlan* plan : {&sweep.plan, &sweep.calibrated})
    for (const Case& asked : plan->cases) keys.insert(asked.key());
  for (const CaseResult& figure : sweep.plan.published) keys.insert(figure.asked.key());
  std::vector<CaseResult> results = store.results();
  std::erase_if(results, [&](const CaseResult& result) { return !keys.contains(result.asked.key()); });
  return results;
}

ReportInput planned_input(const SweepPreparation& sweep, const Store& store, const std::vector<CaseResult>& results) {
  ReportInput input = report_input(results, store.baselines(), {sweep.run}, sweep.data);
  for (const SweepPlan* plan : {&sweep.plan, &sweep.calibrated}) describe(input, plan->catalog);
  return input;
}

}  // namespace hbench
