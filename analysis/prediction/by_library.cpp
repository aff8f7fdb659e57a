#include "analysis/prediction/by_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/points/lead.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/strategies_asked.hpp"
#include "analysis/records/metrics.hpp"
#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

bool is_flat(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  if (!asked.is_predicted() || asked.gpus < kManyGpus || !strategy.communicates()) return false;
  const AlgorithmRule& rule = strategy.algorithm;
  const bool groups = rule.uses_groups() || rule.uses_servers() || !strategy.method.division.none();
  return !groups && !rule.is_vendor() && rule.choices().size() == 1 &&
         catalog.profiles.at(asked.profile).domains_of(asked.gpus) > 1;
}

/// Two simulations may be off by less.
bool is_clearly_faster(double times) { return lead_within({times}, kModelError.half_width(1)).who() == Ahead::first; }

/// Returns the factor by which a schedule could be faster at most: nothing waits for its algorithm, which slows nothing
/// down.
double most_to_win(const CaseResult& result, double schedule) {
  double rest = schedule;
  for (const std::string_view part : {"ledger/exposed", "ledger/slowdown"}) rest -= value_of(result, part).value_or(0);
  return schedule / rest;
}

}  // namespace

std::set<const PlannedCase*> flat_cases(const Plan& plan) {
  std::map<std::pair<std::string, std::string>, const PlannedCase*> largest;
  for (const PlannedCase& each : plan.cases) {
    if (!is_flat(each, plan.catalog)) continue;
    const PlannedCase*& known = largest[{each.asked.profile, each.asked.workload}];
    if (known == nullptr || each.asked.gpus > known->asked.gpus) known = &each;
  }
  std::set<const PlannedCase*> flat;
  for (const auto& [place, each] : largest) flat.insert(each);
  return flat;
}

void compare_with_library(CaseResult& result, const PlannedCase& flat, const Catalog& catalog, std::int64_t memory,
                          const StopRequested& stop) {
  const double step = value_of(result, metric::kStep).value_or(0);
  const double schedule = step - value_of(result, "ledger/unexplained").value_or(0);
  if (!is_clearly_faster(most_to_win(result, schedule))) return;
  TrainingStrategy strategy = flat.strategy;
  strategy.algorithm = parse_algorithm_rule("vendor");
  const PlannedCase other = planned(flat.asked, strategy);
  if (!refuse_simulation(other, catalog, memory).empty()) return;
  // What a framework loses beside its schedule is the same share by either, so that the schedule alone is simulated.
  SimulatedRunner schedules(catalog, stop, false, true);
  result.samples.push_back({.metric = std::string(metric::kByLibrary),
                            .value = step / schedule * schedules.stated(other).step.value,
                            .unit = "s"});
}

std::string fault_of_flat(const Point& point) {
  const double times = point.by_library > 0 ? point.step_seconds / point.by_library : 0;
  if (!point.efficiency || !is_clearly_faster(times)) return "";
  return fmt::format(
      "one {} over all {} GPUs is at fault: the GPUs' library would choose better, and keep {} of ideal speed "
      "(--algorithm vendor)",
      point.asked.strategy.algorithm, with_commas(point.asked.gpus), whole_percent(*point.efficiency * times));
}

}  // namespace hbench
