#include "analysis/recover/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/statistics/statistics.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr std::array<std::string_view, 3> kNames{"stop", "restart", "shrink"};  // by the policies' numbers

double median_step(const std::vector<StepSeen>& seen, double from, double until) {
  std::vector<double> seconds;
  for (const StepSeen& step : seen)
    if (step.at >= from && step.at <= until) seconds.push_back(step.seconds);
  return seconds.empty() ? 0 : median(seconds);
}

}  // namespace

std::string_view to_string(OnFailure policy) { return kNames.at(static_cast<std::size_t>(policy)); }

OnFailure parse_on_failure(const std::string& text, const std::string& flag) {
  const auto* found = std::ranges::find(kNames, text);
  if (found == kNames.end())
    throw Error(ExitCode::usage, fmt::format("{} {}: there is no such way to go on", flag, text),
                "take stop, restart or shrink, or several with commas between them");
  return static_cast<OnFailure>(found - kNames.begin());
}

double RecoveryRun::step_before() const {
  return median_step(seen, 0, losses.empty() ? seen.empty() ? 0 : seen.back().at : losses.front().at);
}

double RecoveryRun::step_after() const {
  if (losses.empty() || !losses.back().seconds) return 0;
  // The first step after a loss has waited for all ranks to begin.
  return median_step(seen, losses.back().at + *losses.back().seconds + 1e-9, seen.back().at);
}

double RecoveryRun::seconds_lost() const {
  double sum = 0;
  for (const Loss& loss : losses) sum += loss.seconds.value_or(0);
  return sum;
}

int RecoveryRun::steps_lost() const {
  int sum = 0;
  for (const Loss& loss : losses) sum += loss.ranks > 0 ? loss.lost() : 0;
  return sum;
}

std::optional<KeptCheckpoint> RecoveryRun::checkpoint() const {
  if (checkpoints.empty()) return std::nullopt;
  KeptCheckpoint mean;
  const double share = 1.0 / static_cast<double>(checkpoints.size());
  for (const KeptCheckpoint& each : checkpoints) {
    mean.bytes += share * each.bytes;
    mean.stall += share * each.stall;
    mean.writing += share * each.writing;
  }
  return mean;
}

std::optional<bool> Recovery::same_bits(const RecoveryRun& run) const {
  const auto fewer = [&](const Loss& loss) { return loss.ranks != asked.workers(); };
  if (!repeatable || !run.policy || run.digest.empty() || undisturbed().digest.empty() ||
      std::ranges::any_of(run.losses, fewer))
    return std::nullopt;
  return run.digest == undisturbed().digest;
}

std::optional<double> Recovery::speed_after(const RecoveryRun& run) const {
  const double after = run.step_after(), before = undisturbed().step_before();
  if (after <= 0 || before <= 0) return std::nullopt;
  return before / after * run.losses.back().ranks / asked.workers();
}

bool repeats_bits(const TrainingStrategy& strategy, int workers) {
  const Fusion& fusion = *strategy.fusion.fusion;
  return (!fusion.varies && !fusion.learns) || (strategy.compressor.verbatim() && workers <= 2);
}

std::string refuse_faults(const std::vector<PlantedFault>& faults, int ranks, int steps) {
  for (const PlantedFault& fault : faults) {
    if (fault.rank >= ranks) return fmt::format("{}: the job has ranks 0 to {}", fault.text(), ranks - 1);
    if (fault.from >= steps) return fmt::format("{}: the job has steps 0 to {}", fault.text(), steps - 1);
  }
  return "";
}

}  // namespace hbench
