#include "bench/verbs/sweep_results.hpp"

#include <set>

#include "bench/output/reporting.hpp"
#include "bench/output/titles.hpp"

namespace hbench {

std::vector<CaseResult> planned_results(const SweepPreparation& sweep, const Plan& extension, const Store& store) {
  std::set<std::string> keys;
  for (const Plan* plan : {&sweep.plan, &extension})
    for (const Case& asked : plan->cases) keys.insert(asked.key());
  for (const CaseResult& figure : sweep.plan.published) keys.insert(figure.asked.key());
  std::vector<CaseResult> results = store.results();
  std::erase_if(results, [&](const CaseResult& result) { return !keys.contains(result.asked.key()); });
  return results;
}

ReportInput planned_input(const SweepPreparation& sweep, const Plan& extension, const Store& store,
                          const std::vector<CaseResult>& results) {
  ReportInput input = report_input(results, store.baselines(), {sweep.run}, sweep.data);
  for (const Plan* plan : {&sweep.plan, &extension}) describe(input, plan->catalog);
  return input;
}

}  // namespace hbench
