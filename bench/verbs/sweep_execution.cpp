#include "bench/verbs/sweep_execution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/points/timed_steps.hpp"
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

/// Of all cases of the plan that are left, and of the calibration.
double seconds_of(const SweepPreparation& sweep, std::initializer_list<const std::vector<const Case*>*> parts) {
  double seconds = sweep.calibration ? sweep.calibration->seconds() : 0;
  for (const std::vector<const Case*>* part : parts)
    for (const Case* asked : *part) seconds += sweep.cost(*asked, sweep.plan);
  return seconds;
}

}  // namespace

bool SweepExecution::is_simulated(const Case& asked) { return asked.evidence == Evidence::simulated; }

SweepExecution::SweepExecution(const SweepPreparation& sweep, Store& store, std::function<void()> early)
    : sweep_(sweep),
      store_(store),
      early_(std::move(early)),
      finished_(finished_keys(sweep, store)),
      simulated_(left(sweep.plan, is_simulated)),
      emulated_(
          left(sweep.plan, [&](const Case& asked) { return !is_simulated(asked) && !sweep.is_launched_here(asked); })),
      measured_(
          left(sweep.plan, [&](const Case& asked) { return !is_simulated(asked) && sweep.is_launched_here(asked); })),
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
  emulate_all(emulated_, sweep_.emulations);
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

}  // namespace hbench
