#include "analysis/track/sides.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/points/plausible.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/case_fields.hpp"
#include "analysis/records/judgements.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

bool is_tracked(const CaseResult& result) { return result.asked.is_timed(); }

/// In words, with what either side has.
std::string difference(const CaseResult& before, const CaseResult& after) {
  const auto of = [](const CaseResult& result, const CaseField& field) {
    const bool described = field.name == "machine" && !result.machine_in_words.empty();
    return described ? result.machine_in_words : in_words(field.get(result.asked));
  };
  std::string text;
  for (const CaseField& field : case_fields()) {
    if (field.part != Part::place || field.get(before.asked) == field.get(after.asked)) continue;
    text += fmt::format("{}{} ({}) was {}", text.empty() ? "" : "; ", field.name, of(after, field), of(before, field));
  }
  return text;
}

/// Answers of all runs of the baseline to one question.
struct Answers {
  std::vector<const CaseResult*> by_run;
};

/// Whether both come from one commit without changes of its files, as far as their runs say.
bool has_equal_code(const CaseResult& a, const CaseResult& b) {
  const auto is_clean = [](const CaseResult& result) {
    return !result.producer.commit().empty() && !result.producer.labels.contains("dirty");
  };
  return is_clean(a) && is_clean(b) && same_code(a.asked, a.producer, b.asked, b.producer);
}

/// Adds the launches of an earlier answer, where it has some.
void add_run(const CaseResult& before, const CaseResult& head, TrackedCase& values) {
  Launch launches = launch_values(before);
  if (launches.empty()) return;
  values.baseline.push_back(std::move(launches));
  values.known.push_back({.run = before.producer.run, .equal_code = has_equal_code(before, head)});
}

/// By question.
std::map<std::string, Answers> answers_of(const std::vector<std::vector<CaseResult>>& runs) {
  std::map<std::string, Answers> known;
  for (const std::vector<CaseResult>& run : runs)
    for (const CaseResult& result : run)
      if (is_tracked(result) && result.status == CaseStatus::done)
        known[result.asked.question()].by_run.push_back(&result);
  return known;
}

}  // namespace

BaselineRuns baseline_runs(const std::vector<Run>& runs, std::int64_t head,
                           const std::map<std::string, std::string>& labels, int most,
                           const std::set<std::int64_t>& accepted) {
  std::vector<Run> chosen;
  const RunFilter filter{.run = 0, .labels = labels};
  for (const Run& run : runs) {
    if (run.id == head) break;
    if (filter.accepts(run) && !is_trial(run.labels)) chosen.push_back(run);
  }
  if (std::ssize(chosen) > most) chosen.erase(chosen.begin(), chosen.end() - most);
  const auto newest =
      std::find_if(chosen.rbegin(), chosen.rend(), [&](const Run& run) { return accepted.contains(run.id); });
  const auto begin = newest == chosen.rend() ? chosen.begin() : std::prev(newest.base());
  return {.runs = {begin, chosen.end()}, .earlier = {chosen.begin(), begin}};
}

std::vector<TrackedSides> pair_sides(const TrackedAnswers& answers) {
  std::ranges::for_each(answers.head, check_plausible);
  for (const auto* runs : {&answers.baseline, &answers.earlier})
    for (const std::vector<CaseResult>& run : *runs) std::ranges::for_each(run, check_plausible);
  std::map<std::string, Answers> known = answers_of(answers.baseline), before_that = answers_of(answers.earlier);
  std::vector<TrackedSides> sides;
  std::vector<const Case*> cases;
  std::map<std::string, std::size_t> asked;
  const auto begin = [&](const CaseResult& result) -> TrackedSides& {
    const auto [at, is_new] = asked.try_emplace(result.asked.question(), sides.size());
    if (!is_new) return sides[at->second];
    cases.push_back(&result.asked);
    const TrackedMetric metric = tracked_metric(result);
    TrackedSides& side = sides.emplace_back(TrackedSides{.question = result.asked.question(), .unit = metric.unit});
    side.values.larger_is_worse = metric.larger_is_worse;
    return side;
  };
  for (const CaseResult& result : answers.head) {
    if (!is_tracked(result)) continue;
    const bool again = asked.contains(result.asked.question());
    TrackedSides& side = begin(result);
    // A case of which launches succeeded before one failed has failed.
    if (result.status == CaseStatus::failed) {
      side.failure = result.failure;
      side.failure_code = result.exit_code;
    } else {
      side.values.head = launch_values(result);
    }
    if (again) continue;
    const CaseResult* elsewhere = nullptr;
    for (const CaseResult* before : known[side.question].by_run) {
      if (before->asked.place() == result.asked.place())
        add_run(*before, result, side.values);
      else
        elsewhere = before;
    }
    for (const CaseResult* before : before_that[side.question].by_run)
      if (Launch launches = launch_values(*before); before->asked.place() == result.asked.place() && !launches.empty())
        side.values.earlier.push_back(std::move(launches));
    if (side.values.baseline.empty() && elsewhere != nullptr) side.incomparable = difference(*elsewhere, result);
  }
  static const std::vector<CaseResult> kNone;
  for (const CaseResult& result : answers.complete ? answers.baseline.at(*answers.complete) : kNone) {
    if (!is_tracked(result) || result.status == CaseStatus::failed || asked.contains(result.asked.question()) ||
        launch_values(result).empty())
      continue;
    add_run(result, result, begin(result).values);
  }
  const std::vector<std::string> names = tracked_names(cases);
  for (std::size_t i = 0; i < sides.size(); ++i) sides[i].name = names[i];
  return sides;
}

}  // namespace hbench
