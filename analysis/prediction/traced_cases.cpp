#include "analysis/prediction/traced_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/points/plausible.hpp"
#include "analysis/points/timed_steps.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/records/machine_facts.hpp"
#include "analysis/trace/ledger.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench {
namespace {

/// Names in a hint.
constexpr std::size_t kNamesShown = 8;
/// Two simulations of one step that differ by more are not of one step.
constexpr double kSame = 1e-9;
/// What a case that nobody named may take to simulate.
constexpr Seconds kPatience(20);

std::string name_of(const Case& asked) {
  if (asked.is_timed()) return fmt::format("{}, {}", tracked_name(asked), to_string(asked.evidence));
  return fmt::format("{}, {} GPUs of {}, {}, batch {}, simulated", asked.workload, asked.gpus, asked.profile,
                     asked.strategy_label(), asked.batch_label());
}

bool has_steps(const CaseResult& result) {
  if (result.status != CaseStatus::done || result.asked.is_collective()) return false;
  // One process alone is never simulated: a database that was edited may say so.
  if (result.asked.is_predicted()) return result.asked.strategy.communicates();
  return result.asked.is_timed() && !stored_ledgers(result.samples).empty();
}

/// The run that was asked for, or the newest with traced steps, or else with simulated ones.
std::vector<CaseResult> results_of(const Store& store, int run) {
  const std::vector<Run> runs = store.runs();
  std::vector<CaseResult> simulated;
  for (auto each = runs.rbegin(); each != runs.rend(); ++each) {
    if (run != 0 && each->id != run) continue;
    std::vector<CaseResult> results = store.of_run(each->id);
    std::erase_if(results, [](const CaseResult& result) { return !has_steps(result); });
    if (run != 0 || std::ranges::any_of(results, [](const CaseResult& result) { return result.asked.is_timed(); }))
      return results;
    if (simulated.empty()) simulated = std::move(results);
  }
  return simulated;
}

void choose(std::vector<CaseResult>& results, const std::string& match) {
  const auto is_named = [&](const CaseResult& result) {
    return lower_case(name_of(result.asked)) == lower_case(match);
  };
  const bool one = std::ranges::any_of(results, is_named);
  std::erase_if(results, [&](const CaseResult& result) {
    return one ? !is_named(result) : lower_case(name_of(result.asked)).find(lower_case(match)) == std::string::npos;
  });
  std::ranges::stable_partition(results, [](const CaseResult& result) { return result.asked.is_timed(); });
}

[[noreturn]] void refuse(const std::vector<CaseResult>& known, const TraceRequest& request) {
  const std::string where = request.run > 0 ? fmt::format("run {}", request.run) : "the database";
  if (known.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no traced step, and none that was simulated", where),
                "hbench sweep --evidence measured --trace 3 --db FILE traces steps");
  std::vector<std::string> names;
  for (const CaseResult& result : known)
    if (names.size() < kNamesShown) names.push_back(fmt::format("'{}'", name_of(result.asked)));
  throw Error(ExitCode::usage, fmt::format("no case of {} has '{}' in its name", where, request.match),
              fmt::format("it has {}{}", fmt::join(names, ", "), known.size() > names.size() ? " and more" : ""));
}

/// Of what the ranks of a measured case do alone.
Seconds alone_of(const CaseResult& result, const std::vector<CaseResult>& of_run) {
  const CaseResult* baseline = choose_baseline(result, of_run).result;
  if (baseline == nullptr) return Seconds(0);
  const auto ledger = typical_ledger(*baseline);
  const auto found = ledger.find("compute");
  return found == ledger.end() ? Seconds(0) : Seconds(found->second);
}

/// The user's file of that name, or the name where it is hbench's own. A case keeps the name of a file alone.
std::string found_at(const std::string& name, const std::vector<std::string>& own,
                     const std::vector<std::string>& files, std::string_view flag) {
  for (const std::string& file : files)
    if (std::filesystem::path(file).stem() == name) return file;
  if (std::ranges::find(own, name) != own.end() || (flag == "--workload" && find_published_shape(name) != nullptr) ||
      is_transformer(name))
    return name;
  throw Error(ExitCode::usage, fmt::format("the simulated case is of '{}', which was a file of yours", name),
              fmt::format("give the file again: {} FILE; or name other cases by --case", flag));
}

/// Simulates the case again, from the profile and timeline that have its names today.
void simulate_again(TracedCase& traced, const CaseResult& result, const Data& data, const RateModel& rates,
                    const TraceRequest& request) {
  Catalog catalog;
  const Case& asked = result.asked;
  catalog.profiles.emplace(
      asked.profile, data.profiles.load(found_at(asked.profile, data.profiles.names(), request.profiles, "--profile")));
  catalog.traces.emplace(
      asked.workload, data.traces.load(found_at(asked.workload, data.traces.names(), request.workloads, "--workload")));
  take_rate(catalog.profiles.begin()->second, catalog.traces.begin()->second, rates, asked.training.precision);
  const PlannedCase again = planned(asked);
  if (const std::string why = refuse_simulation(again, catalog, request.memory); !why.empty())
    throw Error(ExitCode::usage, fmt::format("{} cannot be simulated again: {}", traced.name, why),
                "name other cases by --case");
  if (const Seconds time = simulation_time(again, catalog); request.match.empty() && time > kPatience)
    throw Error(ExitCode::usage, fmt::format("{} takes about {} to simulate again", traced.name, format(time)),
                "name by --case what you mean");
  request.simulating(traced.name);
  const SimulatedStep step = SimulatedRunner(catalog).step(again);
  traced.steps = {{.launch = 0, .iteration = 0, .spans = step.spans}};
  traced.alone = step.times.alone;
  const auto stored = value_of(result, "step_seconds");
  if (stored && std::abs(*stored / step.step().value - 1) > kSame)
    traced.note = fmt::format("simulated again it takes {}, and {} is stored: the simulator or its data have changed",
                              format(step.step()), format(Seconds(*stored)));
}

std::string hosts_of_run(const Store& store, std::int64_t run) {
  const std::vector<Run> runs = store.runs();
  const auto found = std::ranges::find(runs, run, &Run::id);
  if (found == runs.end()) return "";
  const auto hosts = found->environment.find(std::string(kHostsFact));
  return hosts == found->environment.end() ? "" : hosts->second;
}

}  // namespace

std::vector<TracedCase> find_traced_cases(const Store& store, const Data& data, const TraceRequest& request) {
  const std::vector<CaseResult> known = results_of(store, request.run);
  std::vector<CaseResult> chosen = known;
  choose(chosen, request.match);
  // Simulated cases are many: without a name, what was measured is meant.
  if (request.match.empty() && !chosen.empty() && chosen.front().asked.is_timed())
    std::erase_if(chosen, [](const CaseResult& result) { return !result.asked.is_timed(); });
  if (chosen.empty()) refuse(known, request);
  std::vector<TracedCase> cases;
  std::optional<RateModel> rates;
  for (const CaseResult& result : chosen) {
    check_plausible(result);
    TracedCase& traced = cases.emplace_back();
    traced.asked = result.asked;
    traced.name = name_of(result.asked);
    traced.run = result.producer.run;
    if (result.asked.is_timed()) {
      if (const auto id = store.find(traced.run, result.asked)) traced.steps = store.traced(*id);
      std::erase_if(traced.steps, [](const TracedStep& step) { return step_ledgers(step.spans).empty(); });
      if (traced.steps.empty()) traced.ledger = typical_ledger(result);
      traced.alone = alone_of(result, known);
      if (const auto method = known_method(result.asked.strategy.method)) traced.period = method->plan(true).cycle();
      traced.host_of_rank = hosts_of_ranks(result.samples, hosts_of_run(store, traced.run));
    } else {
      if (!rates) rates.emplace(data.profiles.gpus());
      simulate_again(traced, result, data, *rates, request);
    }
  }
  return cases;
}

}  // namespace hbench
