#include "bench/verbs/tune_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/sweep/plan.hpp"
#include "bench/tune/candidates.hpp"
#include "bench/tune/race.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {

std::vector<std::string> tuned_settings(const TuneOptions& options, std::int64_t bytes, std::size_t most) {
  const std::vector<std::string> asked = split_list(options.fusion, "--fusion");
  std::vector<std::string> all;
  for (const std::string& text : asked) {
    if (text.find(':') != std::string::npos)
      all.push_back(parse_fusion(text).text());
    else
      for (std::string& one : tune_candidates(*parse_fusion(text).fusion, bytes, most / asked.size()))
        all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> affordable_settings(const TuneOptions& options, std::int64_t bytes, double cost,
                                             double budget) {
  const auto needed = [&](std::size_t settings) { return (1 + Race::fewest_launches(settings)) * cost; };
  std::size_t most = kMostMeasured;
  while (most > 2 && needed(tuned_settings(options, bytes, most).size()) > budget) --most;
  std::vector<std::string> fusions = tuned_settings(options, bytes, most);
  if (needed(fusions.size()) > budget)
    throw Error(
        ExitCode::usage,
        fmt::format("a launch takes {}, and {} settings need {} of them: {} is too short", format(Seconds(cost)),
                    fusions.size(), 1 + Race::fewest_launches(fusions.size()), options.budget),
        fmt::format("give --budget {:.0f}s or more", std::ceil(needed(fusions.size()) * 1.1)));
  return fusions;
}

Plan tune_plan(const TuneOptions& options, const std::vector<std::string>& fusions, const Data& data,
               const LocalMachine& machine) {
  SweepRequest request;
  request.gpus = {options.workers()};
  request.workloads = {options.workload};
  request.algorithms = {options.algorithm};
  request.compressors = {options.compressor};
  request.fusions = fusions;
  request.batch = options.batch;
  request.image_size = options.image_size;
  if (options.simulated()) request.profiles = {options.profile};
  request.evidence = {options.simulated() ? Evidence::simulated : Evidence::measured};
  // One choice where a sweep compares several.
  if (parse_algorithm_rule(options.algorithm).uses_servers()) {
    request.placements = {"greedy"};
    request.servers = {{.colocated = false, .count = 0}};
  }
  Plan plan = make_plan(request, data, machine);
  std::erase_if(plan.cases, [](const Case& asked) { return !asked.strategy.communicates(); });
  if (plan.cases.empty())
    throw Error(ExitCode::usage, plan.refused.empty() ? "nothing to tune: no algorithm" : plan.refused.front().why,
                "hbench list algorithms, hbench list compressors");
  return plan;
}

const Case& case_of(const Plan& plan, const std::string& fusion) {
  const auto found = std::ranges::find(plan.cases, fusion, [](const Case& asked) { return asked.strategy.fusion; });
  if (found != plan.cases.end()) return *found;
  throw Error(ExitCode::usage, plan.refused.empty() ? fusion + " was left out" : plan.refused.front().why);
}

}  // namespace hbench
