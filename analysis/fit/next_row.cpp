#include "analysis/fit/next_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/fit/explained.hpp"
#include "analysis/prediction/simulate.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A figure is moved by this logarithm to see what depends on it.
constexpr double kMoved = 0.2;
/// Less is not worth a measurement.
constexpr double kLeastGain = 1.1;

/// Steps that could be measured: of each workload the first row's way to exchange, servers apart.
std::vector<Case> candidates(const FittedProfile& fitted) {
  const int full = fitted.base.gpus_per_node;
  int most = 2 * full;
  for (const CaseResult& row : fitted.rows) most = std::max(most, row.asked.gpus);
  std::map<std::string, Case> by_workload;
  for (const CaseResult& row : fitted.rows)
    if (!row.asked.strategy.uses_servers()) by_workload.try_emplace(row.asked.workload, row.asked);
  std::vector<Case> all;
  for (auto& [workload, asked] : by_workload)
    for (const int gpus : {full, most}) {
      if (gpus == 1) continue;
      asked.gpus = gpus;
      all.push_back(asked);
    }
  return all;
}

}  // namespace

std::optional<NextRow> next_row(const FittedProfile& fitted, const Data& data) {
  Catalog catalog;
  for (const CaseResult& row : fitted.rows)
    if (!catalog.traces.contains(row.asked.workload))
      catalog.traces.emplace(row.asked.workload, data.traces.load(row.asked.workload));
  const auto simulated = [&](const Case& asked, const Profile& profile) {
    catalog.profiles.insert_or_assign(asked.profile, profile);
    return std::log(SimulatedRunner(catalog).step(asked).step().value);
  };
  std::optional<NextRow> best;
  double most = kLeastGain;
  for (const Case& asked : candidates(fitted)) {
    const double here = simulated(asked, fitted.profile);
    for (std::size_t p = 0; p < fitted.fit.priors.size(); ++p) {
      const FittedParameter& known = fitted.fit.parameters[p];
      if (known.determined) continue;
      const double gradient = (simulated(asked, moved(fitted.profile, fitted.fit.priors[p], kMoved)) - here) / kMoved;
      FittedParameter then = known;
      then.deviation = 1 / std::hypot(1 / known.deviation, gradient / fitted.fit.noise);
      if (known.deviation / then.deviation <= most) continue;
      most = known.deviation / then.deviation;
      best = {asked.workload, asked.gpus, fitted.fit.priors[p].name, known.factor(), then.factor()};
    }
  }
  return best;
}

void require_better(const FittedProfile& fitted, const Data& data) {
  // Of logarithms: less is a matter of rounding.
  constexpr double kNothing = 0.002;
  const double before = mean_size(fitted.fit.before), without = mean_size(fitted.left_out);
  if (without <= before + kNothing) return;
  const std::optional<NextRow> next = next_row(fitted, data);
  const std::string best =
      next ? fmt::format("the next best step is {} on {} GPUs: {} would be known within a factor of {:.2f}, not {:.2f}",
                         next->workload, next->gpus, next->figure, next->after, next->before)
           : std::string("no single step would tell much more");
  throw Error(ExitCode::usage,
              fmt::format("{} say too little of {}: steps that a fit does not know would be {:.1f} % off on average, "
                          "and are {:.1f} % off without it",
                          counted(std::ssize(fitted.rows), "step"), fitted.base.name, 100 * std::expm1(without),
                          100 * std::expm1(before)),
              fmt::format("nothing is written; {}. Steps on the most, on a middling number of and on the fewest GPUs, "
                          "and of the model with the most parameters, tell most together",
                          best));
}

}  // namespace hbench
