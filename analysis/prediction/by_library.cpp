#include "analysis/prediction/by_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/points/lead.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/records/metrics.hpp"
#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"
#include "collectives/network/choose.hpp"

namespace hbench {
namespace {

/// A ring of n ranks has 2 (n - 1) hops of 10 to 20 us: from here on 5 to 10 ms for each bucket, however small, which a
/// backward pass hides no longer.
constexpr int kMany = 256;
/// A bucket of PyTorch's DistributedDataParallel; those of others are of its order.
constexpr std::int64_t kUsualBucket = 25 << 20;

bool is_flat(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  if (!asked.is_predicted() || asked.gpus < kMany || !strategy.communicates()) return false;
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
  const Profile& cluster = catalog.profiles.at(flat.asked.profile);
  if (!refuse_choice(cluster, flat.asked.gpus, memory).empty()) return;
  const std::int64_t all = catalog.traces.at(flat.asked.workload).timeline.all_elements() * 4;
  TrainingStrategy strategy = flat.strategy;
  strategy.algorithm = choose_algorithm(cluster, flat.asked.gpus, std::array{std::min(kUsualBucket, all)}).rule;
  const std::string chosen = strategy.algorithm.text();
  const PlannedCase other = planned(flat.asked, strategy);
  if (chosen == flat.strategy.algorithm.text() || !refuse_simulation(other, catalog, memory).empty()) return;
  // What a framework loses beside its schedule is the same share by either, so that the schedule alone is simulated.
  SimulatedRunner schedules(catalog, stop, false, true);
  result.samples.push_back({.metric = fmt::format("{}{}", metric::kByLibrary, chosen),
                            .value = step / schedule * schedules.stated(other).step.value,
                            .unit = "s"});
}

std::string fault_of_flat(const Point& point) {
  for (const auto& [algorithm, step] : point.by_library) {
    const double times = step > 0 ? point.step_seconds / step : 0;
    if (!point.efficiency || !is_clearly_faster(times)) continue;
    return fmt::format(
        "one {} over all {} GPUs is at fault: a library would take {} there, and keep {} of ideal speed "
        "(--algorithm auto)",
        point.asked.strategy.algorithm, with_commas(point.asked.gpus), algorithm,
        whole_percent(*point.efficiency * times));
  }
  return "";
}

}  // namespace hbench
