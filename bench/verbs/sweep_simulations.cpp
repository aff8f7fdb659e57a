#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/simulate_each.hpp"
#include "bench/launch/process.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "bench/verbs/sweep_execution.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
/// World by world: quick, and little is lost. What Ctrl-C has ended is no result.
void SweepExecution::simulate(const Plan& plan, const Cases& cases) {
  std::vector<CaseResult> batch;
  const auto keep = [&] {
    if (!batch.empty()) store_.append(run_, batch);
    batch.clear();
  };
  std::size_t made = 0;
  const CaseFollower follower{
      .waits_for =
          [&](const Case& asked) {
            progress_.doing(fmt::format("simulating {} on {} x {}", asked.workload, asked.gpus, asked.profile));
          },
      .made =
          [&](CaseResult result) {
            const Case& asked = *cases[made++];
            batch.push_back(std::move(result));
            const bool next_profile = made == cases.size() || cases[made]->profile != asked.profile;
            progress_.done(sweep_.cost(asked, plan), next_profile ? fmt::format("simulated {}", asked.profile) : "");
            if (next_profile) keep();
          }};
  try {
    simulate_each(cases, plan.catalog, {.memory = sweep_.machine.limits.memory, .stop = interrupted}, follower);
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
  }
  keep();
}

void SweepExecution::emulate_all(const Cases& cases, const PlannedEmulations& planned) {
  const MeasureOptions options = sweep_.emulation_launches();
  for (const Case* asked : cases) {
    if (interrupted()) return;
    const std::string name = fmt::format("{} on {}", case_name(*asked), asked->profile);
    const auto& [emulated, seconds] = planned.at(asked);
    const CaseResult result = emulate(emulated, options, [&](int launch) {
      progress_.doing(fmt::format("emulating {}, dilated {:g} times, launch {} of {}", name, emulated.cluster.dilation,
                                  launch + 1, options.launches));
    });
    if (interrupted()) return;
    store_.append(run_, result);
    const bool failed = result.status == CaseStatus::failed;
    if (failed) worst_ = std::max(worst_, static_cast<ExitCode>(result.exit_code));
    progress_.done(seconds,
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
    extension_ = calibrated_plan(calibration, sweep_.options.request, sweep_.data, sweep_.machine, folder);
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
  simulate(extension_, left(extension_, is_simulated));
  if (!interrupted()) emulate_extension();
}

/// How long this takes is known only now: by the timeline that was recorded.
void SweepExecution::emulate_extension() {
  const Cases cases = left(extension_, [](const Case& asked) { return !is_simulated(asked); });
  if (cases.empty()) return;
  const PlannedEmulations planned = plan_emulations(sweep_, extension_);
  double seconds = 0;
  for (const Case* asked : cases) seconds += planned.at(asked).seconds;
  progress_.more(seconds);
  progress_.note(fmt::format("emulating {} of nodes like this machine: about {:.0f} s",
                             counted(std::ssize(cases), "case"), seconds));
  emulate_all(cases, planned);
}

}  // namespace hbench
