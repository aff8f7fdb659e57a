#include "bench/verbs/sweep_execution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/points/timed_steps.hpp"
#include "analysis/prediction/simulate_each.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/reporting.hpp"
#include "bench/sweep/by_library.hpp"
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
    if (sweep.is_launched_here(result.asked) &&
        std::ssize(timed_steps(result).launches) < sweep.options.measure.launches)
      keys.erase(answer_key(result.asked, result.producer));
  return keys;
}

/// Of all cases of the plan that are left, and of the calibration.
double seconds_of(const SweepPreparation& sweep, std::initializer_list<const std::vector<const PlannedCase*>*> parts) {
  double seconds = sweep.calibration ? sweep.calibration->seconds() : 0;
  for (const std::vector<const PlannedCase*>* part : parts)
    for (const PlannedCase* each : *part) seconds += sweep.plan.work_of(*each).seconds;
  return seconds;
}

}  // namespace

SweepExecution::SweepExecution(const SweepPreparation& sweep, Store& store, std::function<void()> early)
    : sweep_(sweep),
      store_(store),
      early_(std::move(early)),
      finished_(finished_keys(sweep, store)),
      simulated_(left(sweep.plan, &Case::is_predicted)),
      emulated_(
          left(sweep.plan, [&](const Case& asked) { return asked.is_timed() && !sweep.is_launched_here(asked); })),
      measured_(left(sweep.plan, [&](const Case& asked) { return sweep.is_launched_here(asked); })),
      progress_(seconds_of(sweep, {&simulated_, &emulated_, &measured_}), sweep.options.verbosity) {}

void SweepExecution::run() {
  announce(simulated_.size() + emulated_.size() + measured_.size());
  run_ = store_.begin_run(sweep_.run);
  std::vector<CaseResult> published;
  for (const CaseResult& figure : sweep_.plan.published)
    if (!is_finished(figure.asked)) published.push_back(figure);
  store_.append(run_, published);
  simulate(sweep_.plan, simulated_);
  // The answer does not wait for what takes minutes.
  if (!simulated_.empty() && !interrupted() && (!measured_.empty() || !emulated_.empty() || sweep_.calibration)) {
    progress_.clear();
    early_();
  }
  measure(measured_);
  emulate_all(sweep_.plan, emulated_);
  if (sweep_.calibration && !interrupted()) extend();
}

void SweepExecution::announce(std::size_t left) {
  for (const Finding& difference : sweep_.preflight.problems.differences)
    progress_.note(fmt::format("warning: {}: {} (fix: {})", difference.what, difference.state, difference.cure));
  note_refusals(sweep_.plan.refused);
  if (const std::size_t all = sweep_.plan.cases.size(); sweep_.options.resume)
    progress_.note(
        fmt::format("resuming: {} of {} cases are in {}", all - left, all, sweep_.options.database.string()));
}

void SweepExecution::note_refusals(const std::vector<Refusal>& refused) {
  for (const Refusal& refusal : refused) progress_.note(fmt::format("left out: {}: {}", refusal.what, refusal.why));
}

void SweepExecution::measure(const Cases& cases) {
  std::vector<const Case*> measured;
  for (const PlannedCase* each : cases) measured.push_back(&each->asked);
  std::map<const Case*, std::int64_t> stored;
  const double launch = sweep_.options.measure.launch_seconds();
  const MeasuredHooks hooks{
      .doing = [&](const std::string& what) { progress_.doing(what); },
      .launched =
          [&](bool extra) {
            if (extra) progress_.more(launch);
            progress_.done(launch);
          },
      .keep =
          [&](const Case& asked, const CaseResult& addition) {
            if (const auto known = stored.find(&asked); known != stored.end())
              store_.add(known->second, addition.samples, addition.traced);
            else
              stored[&asked] = store_.append(run_, addition);
          },
      .finished = [&](const std::string& what) { progress_.done(0, what); },
      .note = [&](const std::string& line) { progress_.note(line); },
  };
  worst_ = std::max(worst_, measure_cases(sweep_.plan.cases, measured, sweep_.options.measure, 0, hooks));
}

/// World by world: quick, and little is lost. What Ctrl-C has ended is no result.
void SweepExecution::simulate(const SweepPlan& plan, const Cases& cases) {
  std::vector<CaseResult> batch;
  const auto keep = [&] {
    if (!batch.empty()) store_.append(run_, batch);
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

void SweepExecution::emulate_all(const SweepPlan& plan, const Cases& cases) {
  const MeasureOptions options = sweep_.emulation_launches();
  for (const PlannedCase* each : cases) {
    if (interrupted()) return;
    const std::string name = fmt::format("{} on {}", case_name(*each), each->asked.profile);
    const CaseWork& work = plan.work_of(*each);
    const CaseResult result = emulate(*work.emulated, options, [&](int launch) {
      progress_.doing(fmt::format("emulating {}, dilated {:g} times, launch {} of {}", name,
                                  work.emulated->cluster.dilation, launch + 1, options.launches));
    });
    if (interrupted()) return;
    store_.append(run_, result);
    const bool failed = result.status == CaseStatus::failed;
    if (failed) worst_ = std::max(worst_, static_cast<ExitCode>(result.exit_code));
    progress_.done(work.seconds,
                   failed ? fmt::format("failed: {}: {}", name, result.failure) : fmt::format("emulated {}", name));
  }
}

/// Simulates and emulates nodes like this machine. A failure to calibrate it is printed, and costs nothing else.
void SweepExecution::extend() {
  const CalibrationPlan& calibration = *sweep_.calibration;
  const std::filesystem::path folder = calibration.folder(sweep_.options.database);
  try {
    calibrate(calibration, sweep_.data,
              {.program = sweep_.options.measure.program,
               .folder = folder,
               .reuse = sweep_.options.resume,
               .results = store_.results(),
               .own_models = sweep_.options.request.own_models,
               .doing = [&](const std::string& now) { progress_.doing(now); },
               .note = [&](const std::string& line) { progress_.note(line); }});
    if (interrupted()) return;
    extension_ = {calibrated_plan(calibration, sweep_.options.request, sweep_.data, sweep_.machine, folder)};
  } catch (const Error& error) {
    if (!interrupted())
      progress_.note(fmt::format("no nodes like this machine are predicted: {}; {}", error.what(), error.hint()));
    return;
  }
  progress_.done(calibration.seconds(), fmt::format("calibrated in {}", folder.string()));
  std::vector<Refusal> refused = extension_.refused;
  std::erase_if(refused, [&](const Refusal& each) {
    return std::ranges::find(sweep_.plan.refused, each) != sweep_.plan.refused.end();
  });
  note_refusals(refused);
  estimate(extension_, sweep_);
  simulate(extension_, left(extension_, &Case::is_predicted));
  if (!interrupted()) emulate_extension();
}

/// How long this takes is known by the timeline that was recorded.
void SweepExecution::emulate_extension() {
  const Cases cases = left(extension_, &Case::is_timed);
  if (cases.empty()) return;
  double seconds = 0;
  for (const PlannedCase* each : cases) seconds += extension_.work_of(*each).seconds;
  progress_.more(seconds);
  progress_.note(fmt::format("emulating {} of nodes like this machine: about {:.0f} s",
                             counted(std::ssize(cases), "case"), seconds));
  emulate_all(extension_, cases);
}

std::vector<CaseResult> planned_results(const SweepPreparation& sweep, const Plan& extension, const Store& store) {
  std::set<std::string> keys;
  for (const Plan* plan : {static_cast<const Plan*>(&sweep.plan), &extension})
    for (const Case& asked : plan->cases) keys.insert(asked.key());
  for (const CaseResult& figure : sweep.plan.published) keys.insert(figure.asked.key());
  std::vector<CaseResult> results = store.results();
  std::erase_if(results, [&](const CaseResult& result) { return !keys.contains(result.asked.key()); });
  return results;
}

ReportInput planned_input(const SweepPreparation& sweep, const Plan& extension, const Store& store,
                          const std::vector<CaseResult>& results) {
  ReportInput input = report_input(results, store.baselines(), {sweep.run}, sweep.data);
  for (const Plan* plan : {static_cast<const Plan*>(&sweep.plan), &extension}) describe(input, plan->catalog);
  return input;
}

}  // namespace hbench
