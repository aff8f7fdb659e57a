#include <fmt/format.h>

#include "analysis/prediction/simulate.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "bench/verbs/sweep_execution.hpp"

namespace hbench {
namespace {

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
               .own_models = sweep_.options.request.own_models,
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
  simulate(extension_, left(extension_, [](const Case&) { return true; }));
}

}  // namespace hbench
