#include "bench/verbs/sweep_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/points/timed_steps.hpp"
#include "analysis/prediction/simulate.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/measured_cases.hpp"

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

/// The cases of a plan that no run has finished and that `chosen` takes.
template <class Chosen>
std::vector<const Case*> left(const SweepPreparation& sweep, const Plan& plan, const std::set<std::string>& finished,
                              Chosen chosen) {
  std::vector<const Case*> cases;
  for (const Case& asked : plan.cases)
    if (!sweep.is_finished(asked, finished) && chosen(asked)) cases.push_back(&asked);
  return cases;
}

bool is_simulated(const Case& asked) { return asked.evidence == Evidence::simulated; }

/// Of all cases of the plan that are left, and of the calibration.
double seconds_of(const SweepPreparation& sweep, std::initializer_list<const std::vector<const Case*>*> parts) {
  double seconds = sweep.calibration ? sweep.calibration->seconds() : 0;
  for (const std::vector<const Case*>* part : parts)
    for (const Case* asked : *part) seconds += sweep.cost(*asked, sweep.plan);
  return seconds;
}

/// False when Ctrl-C ended it: an unfinished case is not a result.
bool simulate_one(SimulatedRunner& runner, const Case& asked, std::vector<CaseResult>& results) {
  try {
    results.push_back(runner.run(asked));
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
    return false;
  }
}

}  // namespace

SweepExecution::SweepExecution(const SweepPreparation& sweep, Store& store, std::function<void()> early)
    : sweep_(sweep),
      store_(store),
      early_(std::move(early)),
      finished_(finished_keys(sweep, store)),
      simulated_(left(sweep, sweep.plan, finished_, is_simulated)),
      emulated_(left(sweep, sweep.plan, finished_,
                     [&](const Case& asked) { return !is_simulated(asked) && !sweep.is_launched_here(asked); })),
      measured_(left(sweep, sweep.plan, finished_,
                     [&](const Case& asked) { return !is_simulated(asked) && sweep.is_launched_here(asked); })),
      progress_(seconds_of(sweep, {&simulated_, &emulated_, &measured_}), sweep.options.verbosity) {}

void SweepExecution::run() {
  announce(simulated_.size() + emulated_.size() + measured_.size());
  run_ = store_.begin_run(sweep_.run);
  std::vector<CaseResult> published;
  for (const CaseResult& figure : sweep_.plan.published)
    if (!sweep_.is_finished(figure.asked, finished_)) published.push_back(figure);
  store_.append(run_, published);
  simulate(sweep_.plan, simulated_);
  // The answer does not wait for what takes minutes.
  if (!simulated_.empty() && !interrupted() && (!measured_.empty() || !emulated_.empty() || sweep_.calibration)) {
    progress_.clear();
    early_();
  }
  measure(measured_);
  emulate_all(emulated_);
  if (sweep_.calibration && !interrupted()) extend();
}

void SweepExecution::announce(std::size_t left) {
  for (const Finding& difference : sweep_.preflight.problems.differences)
    progress_.note(fmt::format("warning: {}: {} (fix: {})", difference.what, difference.state, difference.cure));
  for (const Refusal& refusal : sweep_.plan.refused)
    progress_.note(fmt::format("left out: {}: {}", refusal.what, refusal.why));
  if (const std::size_t all = sweep_.plan.cases.size(); sweep_.options.resume)
    progress_.note(
        fmt::format("resuming: {} of {} cases are in {}", all - left, all, sweep_.options.database.string()));
}

/// World by world: quick, and little is lost.
void SweepExecution::simulate(const Plan& plan, const Cases& cases) {
  SimulatedRunner runner(plan.catalog, interrupted);
  std::vector<CaseResult> batch;
  for (std::size_t i = 0; i < cases.size() && !interrupted(); ++i) {
    const Case& asked = *cases[i];
    progress_.doing(fmt::format("simulating {} on {} x {}", asked.workload, asked.gpus, asked.profile));
    if (!simulate_one(runner, asked, batch)) break;
    const bool last = i + 1 == cases.size();
    const bool next_profile = last || cases[i + 1]->profile != asked.profile;
    progress_.done(sweep_.cost(asked, plan), next_profile ? fmt::format("simulated {}", asked.profile) : "");
    if (!next_profile) continue;
    store_.append(run_, batch);
    batch.clear();
  }
  if (!batch.empty()) store_.append(run_, batch);
}

void SweepExecution::measure(const Cases& cases) {
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
  worst_ = std::max(worst_, measure_cases(sweep_.plan.cases, cases, sweep_.options.measure, 0, hooks));
}

void SweepExecution::emulate_all(const Cases& cases) {
  const MeasureOptions options = sweep_.emulation_launches();
  for (const Case* asked : cases) {
    if (interrupted()) return;
    const std::string name = fmt::format("{} on {}", case_name(*asked), asked->profile);
    const EmulatedCase& emulated = sweep_.emulated.at(asked);
    const CaseResult result = emulate(emulated, options, [&](int launch) {
      progress_.doing(fmt::format("emulating {}, dilated {:g} times, launch {} of {}", name, emulated.cluster.dilation,
                                  launch + 1, options.launches));
    });
    if (interrupted()) return;
    store_.append(run_, result);
    const bool failed = result.status == CaseStatus::failed;
    if (failed) worst_ = std::max(worst_, static_cast<ExitCode>(result.exit_code));
    progress_.done(sweep_.cost(*asked, sweep_.plan),
                   failed ? fmt::format("failed: {}: {}", name, result.failure) : fmt::format("emulated {}", name));
  }
}

/// Simulates nodes like this machine. A failure of that is printed, and costs nothing else.
void SweepExecution::extend() {
  const CalibrationPlan& calibration = *sweep_.calibration;
  const std::filesystem::path folder = calibration.folder(sweep_.options.database);
  try {
    calibrate(calibration, sweep_.data,
              {.program = sweep_.options.measure.program,
               .folder = folder,
               .reuse = sweep_.options.resume,
               .results = store_.results(),
               .doing = [&](const std::string& now) { progress_.doing(now); },
               .note = [&](const std::string& line) { progress_.note(line); }});
    if (interrupted()) return;
    extension_ = calibrated_plan(calibration, sweep_.options.request, sweep_.data, sweep_.machine, folder);
  } catch (const Error& error) {
    if (!interrupted())
      progress_.note(fmt::format("no nodes like this machine are simulated: {}; {}", error.what(), error.hint()));
    return;
  }
  progress_.done(calibration.seconds(), fmt::format("calibrated in {}", folder.string()));
  simulate(extension_, left(sweep_, extension_, finished_, [](const Case&) { return true; }));
}

}  // namespace hbench
