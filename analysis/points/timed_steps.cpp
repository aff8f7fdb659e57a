#include "analysis/points/timed_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "analysis/records/case_fields.hpp"
#include "analysis/records/machine_facts.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// Of the ranks in one iteration.
struct OfRanks {
  double slowest = 0;
  double sum = 0;
  int ranks = 0;
};

/// Of a rank in a launch.
struct OfSteps {
  double seconds = 0;
  int steps = 0;
};

/// Of ranks that do not wait for each other: the step that all would have if they did as many together. A rank that is
/// twice as slow makes half as much, and holds up nobody.
double as_if_equal(const std::map<int, OfSteps>& by_rank) {
  double rate = 0;
  for (const auto& [rank, each] : by_rank) rate += each.steps / each.seconds;
  return static_cast<double>(by_rank.size()) / rate;
}

bool waits_for_nobody(const Case& asked) {
  if (asked.strategy.method.empty()) return false;
  const std::optional<MethodChoice> method = known_method(asked.strategy.method);
  return method && !method->in_lockstep();
}

/// A launch's ranks in each of its iterations, and the steps of each rank.
struct OfLaunch {
  std::map<int, OfRanks> iterations;
  std::map<int, OfSteps> steps;  ///< where they wait for nobody
};

/// The value of each timed iteration. Ranks that wait for nobody have none in common: their launch has one value.
Launch values_of(const OfLaunch& launch, std::string_view metric) {
  if (!launch.steps.empty()) return {as_if_equal(launch.steps)};
  const bool is_step = metric == metric::kStep;
  Launch values;
  for (const auto& [number, iteration] : launch.iterations)
    values.push_back(is_step ? iteration.sum / iteration.ranks : iteration.slowest);
  return values;
}

/// By launch the values of a metric; counts what they are of in `steps`.
std::map<int, Launch> by_launch(const CaseResult& result, std::string_view metric, TimedSteps& steps) {
  const bool free = metric == metric::kStep && waits_for_nobody(result.asked);
  std::map<int, OfLaunch> samples;
  for (const Sample& sample : result.samples) {
    if (sample.metric != metric || sample.warmup) continue;
    ++steps.observations;
    OfLaunch& launch = samples[sample.launch];
    OfRanks& iteration = launch.iterations[sample.iteration];
    iteration.slowest = std::max(iteration.slowest, sample.value);
    iteration.sum += sample.value;
    ++iteration.ranks;
    if (!free) continue;
    OfSteps& of_rank = launch.steps[sample.rank];
    of_rank.seconds += sample.value;
    ++of_rank.steps;
  }
  std::map<int, Launch> launches;
  for (const auto& [number, launch] : samples) {
    steps.iterations += launch.iterations.size();
    launches[number] = values_of(launch, metric);
  }
  return launches;
}

/// The first field of the work that differs, as `precision bf16, not none`; empty where the work is the same.
std::string other_work(const Case& candidate, const Case& asked) {
  for (const CaseField& field : case_fields()) {
    if (field.part != Part::work) continue;
    const FieldValue there = field.get(candidate), here = field.get(asked);
    if (there != here)
      return fmt::format("the baseline is of {} {}, this of {}", field.name, in_words(there), in_words(here));
  }
  return "";
}

std::string machine_of(const CaseResult& result) {
  if (!result.machine_in_words.empty()) return result.machine_in_words;
  return result.asked.machine.empty() ? "one that is not known" : result.asked.machine;
}

std::string other_place(const CaseResult& candidate, const CaseResult& result) {
  if (candidate.asked.evidence != result.asked.evidence || candidate.asked.profile != result.asked.profile)
    return fmt::format("the baseline was {} on {}", to_string(candidate.asked.evidence), candidate.asked.profile);
  return fmt::format("the baseline was measured on another machine: {}; this on {}", machine_of(candidate),
                     machine_of(result));
}

std::string code_of(const CaseResult& result) {
  const std::string commit = result.producer.commit();
  return fmt::format("{}{}{}{}{}", result.asked.implementation, result.producer.version.empty() ? "" : " of hbench ",
                     result.producer.version, commit.empty() ? "" : " at commit ", commit);
}

/// Candidates by how near they are, the best last: another work, another place, other code, another run, all the same.
enum class Nearness : std::uint8_t { none, work, place, code, run };

Nearness nearness(const CaseResult& candidate, const CaseResult& result) {
  const Case asked = result.asked.baseline(), base = candidate.asked.baseline();
  if (base.question() != asked.question()) return Nearness::none;
  if (base.place() != asked.place()) return Nearness::work;
  if (!same_code(candidate.asked, candidate.producer, result.asked, result.producer)) return Nearness::place;
  return candidate.producer.run == result.producer.run ? Nearness::run : Nearness::code;
}

std::string reason(const CaseResult* nearest, Nearness near, const CaseResult& result) {
  if (nearest == nullptr) return "no process without communication was timed";
  if (near == Nearness::none) return other_work(nearest->asked, result.asked);
  if (near == Nearness::work) return other_place(*nearest, result);
  if (near == Nearness::place)
    return fmt::format("the baseline was measured by {}, this by {}", code_of(*nearest), code_of(result));
  return fmt::format("the baseline was measured in run {}, this in run {}: the machine may have changed between",
                     nearest->producer.run, result.producer.run);
}

bool is_baseline(const CaseResult& candidate) {
  return candidate.status == CaseStatus::done && candidate.asked.is_timed() && !candidate.asked.strategy.communicates();
}

}  // namespace

TimedSteps timed_steps(const CaseResult& result, std::string_view metric) {
  TimedSteps steps;
  for (auto& [launch, values] : by_launch(result, metric, steps)) steps.launches.push_back(std::move(values));
  return steps;
}

std::vector<PairedLaunch> paired_launches(const CaseResult& result) {
  TimedSteps counted;
  std::map<int, Launch> own = by_launch(result, metric::kStep, counted);
  std::vector<PairedLaunch> pairs;
  for (auto& [launch, baseline] : by_launch(result, metric::kPairedBaseline, counted))
    if (const auto found = own.find(launch); found != own.end())
      pairs.push_back({std::move(baseline), std::move(found->second)});
  return pairs;
}

BaselineChoice choose_baseline(const CaseResult& result, const std::vector<CaseResult>& candidates) {
  const CaseResult* nearest = nullptr;
  Nearness best = Nearness::none;
  for (const CaseResult& candidate : candidates | std::views::reverse) {
    if (!is_baseline(candidate) || candidate.asked.workload != result.asked.workload) continue;
    const Nearness near = nearness(candidate, result);
    if (nearest != nullptr && near <= best) continue;
    nearest = &candidate;
    best = near;
  }
  if (nearest != nullptr && best == Nearness::run) return {nearest, ""};
  return {nullptr, reason(nearest, best, result)};
}

}  // namespace hbench
