#include "analysis/track/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/points/plausible.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/judgements.hpp"
#include "analysis/records/words.hpp"
#include "analysis/statistics/rank_test.hpp"
#include "analysis/track/sides.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr double kIntervalLevel = 0.95;
/// Of a level, the runs next to a change: more tell no more, and of drifting machines less.
constexpr std::size_t kRunsBesideAChange = 30;

/// The newest run with the labels. \throws Error (usage).
Run newest_run(const Store& store, const std::map<std::string, std::string>& labels) {
  std::vector<Run> runs = store.runs();
  const RunFilter filter{.run = 0, .labels = labels};
  std::erase_if(runs, [&](const Run& run) { return !filter.accepts(run) || is_trial(run.labels); });
  if (!runs.empty()) return runs.back();
  throw Error(ExitCode::usage, fmt::format("no run has {}", labels.empty() ? "been stored" : labels_text(labels)),
              "hbench sweep --label branch=main stores one");
}

std::vector<double> launches_of(const std::vector<HistoryPoint>& points, std::size_t begin, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = begin; i < end; ++i)
    values.insert(values.end(), points[i].values.begin(), points[i].values.end());
  return values;
}

void find_changes(CaseHistory& known, const ChangeRule& rule) {
  std::vector<double> values;
  for (const HistoryPoint& point : known.points) values.push_back(point.value);
  std::vector<std::size_t> begins = change_points(values, rule);
  for (const std::size_t begin : begins) known.changes.push_back({.first = begin, .shift = 0});
  for (LevelChange& change : known.changes) {
    const std::size_t before =
        std::max(known.level_begin(change.first - 1), change.first - std::min(change.first, kRunsBesideAChange));
    const std::size_t after = std::min(known.level_end(change.first), change.first + kRunsBesideAChange);
    const std::vector<double> old = launches_of(known.points, before, change.first);
    const std::vector<double> fresh = launches_of(known.points, change.first, after);
    change.shift = relative_shift(old, fresh);
    change.interval = shift_interval(old, fresh, kIntervalLevel);
  }
}

}  // namespace

std::size_t CaseHistory::level_begin(std::size_t point) const {
  std::size_t begin = 0;
  for (const LevelChange& change : changes)
    if (change.first <= point) begin = change.first;
  return begin;
}

std::size_t CaseHistory::level_end(std::size_t point) const {
  for (const LevelChange& change : changes)
    if (change.first > point) return change.first;
  return points.size();
}

double CaseHistory::level(std::size_t point) const {
  std::vector<double> values;
  for (std::size_t i = level_begin(point); i < level_end(point); ++i) values.push_back(points[i].value);
  return median(std::move(values));
}

std::vector<CaseHistory> history(const Store& store, const HistoryRequest& request) {
  const Run newest = newest_run(store, request.labels);
  const std::string wanted = lower_case(request.match);
  const RunFilter filter{.run = 0, .labels = request.labels};
  std::vector<CaseHistory> all;
  std::vector<std::string> names;
  for (const CaseResult& result : store.of_run(newest.id)) {
    if (!result.asked.is_timed() || result.status == CaseStatus::failed) continue;
    CaseHistory known{.name = tracked_name(result.asked),
                      .question = result.asked.question(),
                      .place = result.asked.place(),
                      .unit = tracked_metric(result).unit,
                      .larger_is_worse = tracked_metric(result).larger_is_worse};
    names.push_back(known.name);
    if (lower_case(known.name).find(wanted) == std::string::npos) continue;
    for (const CaseResult& answer : store.history(known.question, known.place)) {
      if (answer.status == CaseStatus::failed || !filter.accepts(answer.producer) || is_trial(answer.producer.labels))
        continue;
      check_plausible(answer);
      Launch values = launch_values(answer);
      if (values.empty()) continue;
      known.points.push_back({.producer = answer.producer, .value = median(values), .values = values});
    }
    if (known.points.empty()) continue;
    find_changes(known, request.rule);
    all.push_back(std::move(known));
  }
  if (all.empty())
    throw Error(
        ExitCode::usage,
        request.match.empty() ? fmt::format("run {} has no timed case", newest.id)
                              : fmt::format("no case of run {} has '{}' in its name", newest.id, request.match),
        names.empty() ? "measure with hbench sweep or hbench collective" : fmt::format("such as '{}'", names.front()));
  return all;
}

}  // namespace hbench
