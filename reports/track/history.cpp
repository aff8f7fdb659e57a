#include "reports/track/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "analysis/records/words.hpp"

namespace hbench {
namespace {

constexpr std::size_t kMostCharts = 12;

/// `3f2a91c`, or the run where no commit is known.
std::string where(const Producer& producer) {
  const std::string commit = short_commit(producer.commit());
  return commit.empty() ? fmt::format("run {}", producer.run) : commit;
}

/// `run 7, commit 3f2a91c`
std::string in_full(const Producer& producer) {
  const std::string commit = short_commit(producer.commit());
  return fmt::format("run {}{}", producer.run, commit.empty() ? "" : ", commit " + commit);
}

/// A change of one of the cases.
struct Happening {
  const CaseHistory* of = nullptr;
  const LevelChange* change = nullptr;

  const Producer& before() const { return of->points[change->first - 1].producer; }
  const Producer& after() const { return of->points[change->first].producer; }
};

/// The newest first.
std::vector<Happening> events_of(const std::vector<CaseHistory>& cases) {
  std::vector<Happening> events;
  for (const CaseHistory& each : cases)
    for (const LevelChange& change : each.changes) events.push_back({&each, &change});
  std::ranges::stable_sort(events, std::greater(), [](const Happening& event) { return event.after().run; });
  return events;
}

std::string verdict_text(const std::vector<CaseHistory>& cases, const std::vector<Happening>& events) {
  const auto changed = std::ranges::count_if(cases, [](const CaseHistory& each) { return !each.changes.empty(); });
  if (changed == 0) return fmt::format("No change of level in {} case{}.", cases.size(), cases.size() == 1 ? "" : "s");
  const Happening& last = events.front();
  return fmt::format("{} of {} cases have changed their level. The last: {}, {} between {} and {}.", changed,
                     cases.size(), last.of->name, signed_percent(last.change->shift), where(last.before()),
                     where(last.after()));
}

Table events_table(const std::vector<Happening>& events) {
  Table table{.caption = "Changes, the newest first",
              .columns = {"case", numbers("change"), numbers("95 % interval", 2), "after", "and by", texts("runs", 3),
                          texts("since", 1)},
              .first_rows = 20};
  for (const Happening& event : events)
    table.rows.push_back({event.of->name, signed_percent(event.change->shift), interval_text(event.change->interval),
                          where(event.before()), where(event.after()),
                          fmt::format("{} and {}", event.before().run, event.after().run), event.after().started_at});
  return table;
}

Table levels_table(const std::vector<CaseHistory>& cases) {
  Table table{.caption = "Levels of today",
              .columns = {"case", numbers("level"), numbers("since run"), numbers("of runs", 2),
                          numbers("newest run", 1), numbers("from level", 1)},
              .first_rows = 20};
  for (const CaseHistory& each : cases) {
    const std::size_t last = each.points.size() - 1;
    const double level = each.level(last);
    table.rows.push_back({each.name, value_text(level, each.unit),
                          std::to_string(each.points[each.level_begin(last)].producer.run),
                          std::to_string(each.points.size()), value_text(each.points[last].value, each.unit),
                          signed_percent(each.points[last].value / level - 1)});
  }
  return table;
}

std::optional<double> seconds_of(const std::string& utc) {
  std::tm date{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &date) == nullptr) return std::nullopt;
  return static_cast<double>(timegm(&date));
}

/// The places of runs on the axis: their dates where all are known, and rise as their numbers do; else their numbers.
struct Places {
  bool dates = true;
  std::vector<double> x;

  explicit Places(const std::vector<HistoryPoint>& points) {
    for (const HistoryPoint& point : points) x.push_back(seconds_of(point.producer.started_at).value_or(NAN));
    dates = x.front() < x.back() && std::ranges::is_sorted(x) &&
            std::ranges::none_of(x, [](double place) { return std::isnan(place); });
    for (std::size_t i = 0; i < x.size() && !dates; ++i) x[i] = static_cast<double>(points[i].producer.run);
  }
};

Chart chart_of(const CaseHistory& known, std::size_t number) {
  const Places places(known.points);
  Chart chart{.id = fmt::format("history-{}", number),
              .title = known.name,
              .x_title = places.dates ? "date of the run" : "run",
              .y_title = known.unit == "s" ? "seconds" : known.unit,
              .x_dates = places.dates,
              .caption = "Bars: the launches of a run. Dashed: levels, with the commit of their first run."};
  Series runs{.label = "runs", .mark = Mark::measured};
  for (std::size_t i = 0; i < known.points.size(); ++i) {
    const HistoryPoint& point = known.points[i];
    const auto [low, high] = std::ranges::minmax(point.values);
    runs.points.push_back({.x = places.x[i],
                           .y = point.value,
                           .low = low,
                           .high = high,
                           .note = fmt::format("{}, {}", in_full(point.producer), point.producer.started_at),
                           .label = i > 0 && known.level_begin(i) == i ? where(point.producer) : ""});
  }
  chart.series.push_back(std::move(runs));
  for (std::size_t begin = 0; begin < known.points.size(); begin = known.level_end(begin)) {
    Series level{.label = fmt::format("level {}", value_text(known.level(begin), known.unit)), .mark = Mark::ideal};
    for (const std::size_t end : {begin, known.level_end(begin) - 1})
      level.points.push_back({.x = places.x[end], .y = known.level(begin)});
    chart.series.push_back(std::move(level));
  }
  return chart;
}

void history_point_fields(Row& row, const HistoryPoint& point) {
  row.field("run", point.producer.run);
  row.field("commit", point.producer.commit());
  row.field("started_at", point.producer.started_at, "UTC");
  row.field("value", point.value, "median of the launches");
  row.field("launches", point.values);
}

void change_fields(Row& row, const CaseHistory& known, const LevelChange& change) {
  const Producer before = change.first > 0 ? known.points[change.first - 1].producer : Producer();
  const Producer after = change.first > 0 ? known.points[change.first].producer : Producer();
  row.field("last_run_before", before.run);
  row.field("first_run_after", after.run);
  row.field("last_commit_before", before.commit());
  row.field("first_commit_after", after.commit());
  row.field("shift", change.shift, "as a fraction");
  row.field("shift_low", change.interval.low, "95 %");
  row.field("shift_high", change.interval.high, "95 %");
}

void history_fields(Row& row, const CaseHistory& known) {
  row.field("name", known.name);
  row.field("question", known.question, "the case's key");
  row.field("place", known.place);
  row.field("unit", known.unit, "of the values");
  row.rows("points", known.points, history_point_fields);
  row.rows("changes", known.changes, [&](Row& of, const LevelChange& change) { change_fields(of, known, change); });
}

std::string verdict_text(const BisectReport& report) {
  if (!report.obstacle.empty()) return report.obstacle;
  if (report.first_bad.size() == 1)
    return fmt::format("{} is the first bad commit: {}", short_commit(report.first_bad.front()),
                       report.subjects.front());
  std::vector<std::string> names;
  for (const std::string& commit : report.first_bad) names.push_back(short_commit(commit));
  return fmt::format("One of {} commits is the first bad one, and the others could not be measured: {}.", names.size(),
                     fmt::join(names, ", "));
}

void step_fields(Row& row, const BisectStep& step) {
  const TrackJudgement& judged = step.judgement;
  const auto figure = [&](double value) { return if_known(judged.compared(), value); };
  row.field("commit", step.commit).in("commit", short_commit);
  row.field("subject", step.subject);
  row.field("answer", to_string(step.answer), "pass, regressed or inconclusive").in("is");
  row.field("reason", step.reason);
  row.field("shift", figure(judged.shift), "against the good commit, as a fraction").in("change", signed_percent);
  row.field("shift_low", figure(judged.interval.low), "95 %");
  row.field("shift_high", figure(judged.interval.high), "95 %");
  row.number("95 % interval", judged.compared() ? interval_text(judged.interval) : "-", 2);
  row.words("why", step.reason, 3);
  row.words("subject", step.subject, 1);
}

/// A commit that may be the first bad one.
struct Suspect {
  std::string commit, subject;
};

void suspect_fields(Row& row, const Suspect& suspect) {
  row.field("commit", suspect.commit);
  row.field("subject", suspect.subject);
}

void bisect_fields(Row& row, const BisectReport& report) {
  std::vector<Suspect> suspects;
  for (std::size_t i = 0; i < report.first_bad.size(); ++i)
    suspects.push_back({report.first_bad[i], report.subjects[i]});
  const auto only = suspects.size() == 1 ? std::optional(suspects.front()) : std::nullopt;
  row.field("format", 1);
  row.field("case", report.range.name);
  row.field("good", report.range.good, "a commit");
  row.field("bad", report.range.bad, "a commit");
  row.field("shift", report.range.shift, "between them, as a fraction");
  row.object("first_bad", only, suspect_fields, "where it was found");
  row.rows("suspects", suspects, suspect_fields, "several where some could not be measured");
  row.field("obstacle", if_stated(report.obstacle), "why nothing was found");
  row.rows("steps", report.steps, step_fields, "commits that were measured");
}

}  // namespace

Document history_document(const std::vector<CaseHistory>& cases, const HistoryRequest& request) {
  Document document{.title = "History"};
  const std::vector<Happening> events = events_of(cases);
  document.blocks.emplace_back(Verdict{verdict_text(cases, events)});
  ChartGroup charts{.title = "Runs"};
  // What has changed is looked at first.
  std::vector<const CaseHistory*> shown;
  for (const CaseHistory& each : cases) shown.push_back(&each);
  std::ranges::stable_partition(shown, [](const CaseHistory* each) { return !each->changes.empty(); });
  for (const CaseHistory* each : shown)
    if (charts.charts.size() < kMostCharts) charts.charts.push_back(chart_of(*each, charts.charts.size() + 1));
  document.blocks.emplace_back(std::move(charts));
  if (!events.empty()) document.blocks.emplace_back(events_table(events));
  document.blocks.emplace_back(levels_table(cases));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "Each run counts with the median of its launches. A level has {} runs at least and is {:.3g} % from its "
      "neighbours; levels are cut where the absolute deviations from their medians and a penalty for each cut are "
      "least.",
      request.rule.shortest, 100 * request.rule.least_effect)});
  return document;
}

std::string history_json(const std::vector<CaseHistory>& cases, Form form) {
  return object_text(form, "hbench track history --json", cases, [](Row& row, const std::vector<CaseHistory>& all) {
    row.field("format", 1);
    row.rows("cases", all, history_fields);
  });
}

Document bisect_document(const BisectReport& report) {
  Document document{.title = "Bisection"};
  document.blocks.emplace_back(Verdict{verdict_text(report)});
  if (!report.steps.empty())
    document.blocks.emplace_back(table_of(report.steps, step_fields, {.caption = "Commits that were measured"}));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "{} has changed by {} between {} and {}. Each commit took turns with {}; a bad one is slower by at least half of "
      "that.",
      report.range.name, signed_percent(report.range.shift), short_commit(report.range.good),
      short_commit(report.range.bad), short_commit(report.range.good))});
  return document;
}

std::string bisect_json(const BisectReport& report, Form form) {
  return object_text(form, "hbench track bisect --json", report, bisect_fields);
}

}  // namespace hbench
