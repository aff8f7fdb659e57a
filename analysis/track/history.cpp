#include "analysis/track/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

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

/// Whether git may know a text as a commit, and no shell or program takes it for more than one word.
bool is_revision(std::string_view text) {
  return text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("._/~^@{}+-").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

/// \throws Error (usage) where it names none.
std::string commit_of(const Producer& producer) {
  const std::string commit = producer.commit();
  if (!commit.empty() && is_revision(commit)) return commit;
  if (!commit.empty())
    throw Error(ExitCode::usage,
                fmt::format("the commit of run {} is '{}', which is no name of a commit", producer.run, commit),
                "measure with --label commit=$(git rev-parse HEAD)");
  throw Error(ExitCode::usage, fmt::format("run {} does not tell its commit", producer.run),
              "measure with --label commit=$(git rev-parse HEAD)");
}

/// Returns whether a verdict about a point says what is a change of level already: it was held to the level before.
bool is_dated(const CaseHistory& known, std::size_t point, const StoredVerdict& verdict) {
  const std::size_t begin = known.level_begin(point);
  return begin > 0 && std::abs(verdict.before - known.level(begin - 1)) < std::abs(verdict.before - known.level(point));
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

void add_regressions(std::vector<CaseHistory>& cases, const Store& store) {
  std::map<std::int64_t, std::vector<StoredVerdict>> known;  // of the last check of each run
  const auto verdict_of = [&](std::int64_t run, const std::string& question) -> const StoredVerdict* {
    const auto [verdicts, is_new] = known.try_emplace(run);
    if (is_new)
      if (std::vector<StoredJudgement> checks = store.judgements(run); !checks.empty())
        verdicts->second = std::move(checks.back().verdicts);
    const auto found = std::ranges::find(verdicts->second, question, &StoredVerdict::question);
    return found == verdicts->second.end() ? nullptr : &*found;
  };
  for (CaseHistory& each : cases) {
    const StoredVerdict* oldest = nullptr;
    std::size_t first = each.points.size();
    for (; first > 1; --first) {
      const StoredVerdict* verdict = verdict_of(each.points[first - 1].producer.run, each.question);
      if (verdict == nullptr || verdict->verdict != to_string(TrackVerdict::regressed)) break;
      oldest = verdict;
    }
    if (oldest != nullptr && !is_dated(each, first, *oldest))
      each.changes.push_back({.first = first, .shift = oldest->shift, .interval = oldest->interval});
  }
}

BisectRange bisect_range(const std::vector<CaseHistory>& cases) {
  const CaseHistory* of = nullptr;
  const LevelChange* newest = nullptr;
  for (const CaseHistory& each : cases)
    for (const LevelChange& change : each.changes) {
      const bool worse = each.larger_is_worse == (change.shift > 0);
      const auto run = [](const CaseHistory& known, const LevelChange& begin) {
        return known.points[begin.first].producer.run;
      };
      if (!worse || (newest != nullptr && run(each, change) <= run(*of, *newest))) continue;
      of = &each;
      newest = &change;
    }
  if (newest == nullptr)
    throw Error(ExitCode::usage,
                fmt::format("none of {} case{} has become slower", cases.size(), cases.size() == 1 ? "" : "s"),
                "hbench track check judges the newest run; hbench track history shows levels, of three runs at least");
  const Producer &before = of->points[newest->first - 1].producer, &after = of->points[newest->first].producer;
  BisectRange range{.name = of->name, .good = commit_of(before), .bad = commit_of(after), .shift = newest->shift};
  if (range.good == range.bad)
    throw Error(ExitCode::usage,
                fmt::format("{} has become slower between runs {} and {}, which are of the same commit", range.name,
                            before.run, after.run),
                "it is not the code: look for what else has changed (hbench doctor)");
  return range;
}

}  // namespace hbench
