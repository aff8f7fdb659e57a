#include "reports/track/bisection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/records/words.hpp"

namespace hbench {
namespace {

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

void report_fields(Row& row, const BisectReport& report) {
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
  return object_text(form, "hbench track bisect --json", report, report_fields);
}

}  // namespace hbench
