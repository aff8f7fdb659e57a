#include "analysis/prediction/measured_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction/simulate.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A step that is off by more than this factor is of something else.
constexpr double kOfSomethingElse = 20;

bool is_same_training(const Case& one, const Case& other) {
  return one.workload == other.workload && one.profile == other.profile && one.strategy == other.strategy &&
         one.batch_per_gpu == other.batch_per_gpu && one.accumulate == other.accumulate;
}

}  // namespace

MeasuredStep parse_measured_step(std::string_view text) {
  const std::size_t at = text.find('@');
  MeasuredStep step{.time = parse_seconds(text.substr(0, at))};
  if (at != std::string_view::npos) step.gpus = parse_number<int>(text.substr(at + 1)).value_or(0);
  if (step.time.value > 0 && (at == std::string_view::npos || step.gpus > 1)) return step;
  throw Error(ExitCode::usage, fmt::format("'{}' is no step of several GPUs", text),
              "write its time and its GPUs, such as 313ms@32");
}

void take_measured_step(std::span<PlannedCase> planned, Catalog& catalog, const MeasuredStep& measured) {
  std::vector<PlannedCase*> cases;
  for (PlannedCase& each : planned)
    if (each.asked.evidence == Evidence::simulated) cases.push_back(&each);
  const auto differs = [&](const PlannedCase* each) { return !is_same_training(each->asked, cases.front()->asked); };
  if (cases.empty() || std::ranges::any_of(cases, differs))
    throw Error(ExitCode::usage, "a measured step is of one workload, cluster, strategy and batch per GPU",
                "name them: --evidence simulated --workload vgg16 --profile dgx-a100 --preset ddp");
  const auto gpus = [](const PlannedCase* each) { return each->asked.gpus; };
  const auto found =
      measured.gpus == 0 ? std::ranges::max_element(cases, {}, gpus) : std::ranges::find(cases, measured.gpus, gpus);
  if (found == cases.end())
    throw Error(ExitCode::usage, fmt::format("the step is of {} GPUs, which are not asked for", measured.gpus),
                fmt::format("add them to --gpus: {},...", measured.gpus));
  const PlannedCase& at = **found;
  const SimulatedStep simulated = SimulatedRunner(catalog).step(at);
  const double off = std::log(measured.time / simulated.step());
  if (std::abs(off) > std::log(kOfSomethingElse))
    throw Error(ExitCode::usage,
                fmt::format("a step on {} GPUs of {} is simulated to take {}, not {}", at.asked.gpus, at.asked.profile,
                            format(simulated.step()), format(measured.time)),
                "give the time of one step, and the --batch of a GPU in it");
  const double network = catalog.profiles.at(at.asked.profile).domains_of(at.asked.gpus) > 1
                             ? std::min(1.0, simulated.times.communication / simulated.times.step)
                             : 0;
  catalog.measured_shift = kShiftByStep * off;
  catalog.measured_shift_inside = catalog.measured_shift * (1 - network);
  for (PlannedCase* each : cases)
    each->asked.source +=
        fmt::format("; a step of {} on {} GPUs, given by --measured", format(measured.time), at.asked.gpus);
}

}  // namespace hbench
