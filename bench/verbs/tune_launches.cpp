#include "bench/verbs/tune_launches.hpp"

#include <fmt/format.h>

#include "analysis/points/timed_steps.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/records/trial.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/output_file.hpp"

namespace hbench {

TuneLaunches::TuneLaunches(const Call& call, const TuneOptions& options)
    : run_{call.command, HBENCH_VERSION, now_utc(), {}, options.labels} {
  run_.labels[kTuningLabel] = options.fusion;
  options_.program = installation().worker.string();
  options_.steps = options.steps;
  options_.budget = Seconds(options.steps_seconds);
  options_.traced_steps = 0;
}

double TuneLaunches::launch(const Case& asked, LaunchedSetting& setting, Store* into) {
  LaunchOutcome outcome;
  try {
    outcome = measure_launch(asked, options_, setting.count++);
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
  if (into != nullptr) keep(result, setting, *into);
  return median_of_launches(steps.launches);
}

void TuneLaunches::keep(CaseResult& result, LaunchedSetting& setting, Store& store) {
  if (setting.stored) return store.add(*setting.stored, result.samples);
  if (!run_id_) run_.environment = environment_facts(result.asked.training.on_gpu());
  place_on_this_machine(result.asked, run_);
  if (!run_id_) run_id_ = store.begin_run(run_);
  setting.stored = store.append(*run_id_, result);
}

}  // namespace hbench
