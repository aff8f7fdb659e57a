#include "reports/track/bisection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "analysis/records/words.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

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

Table steps_table(const BisectReport& report) {
  Table table{.caption = "Commits that were measured",
              .columns = {"commit", "is", "change", "95 % interval", "why", "subject"},
              .numeric = {false, false, true, true, false, false},
              .priority = {0, 0, 0, 2, 3, 1}};
  for (const BisectStep& step : report.steps) {
    const bool figures = step.judgement.compared();
    table.rows.push_back({short_commit(step.commit), std::string(to_string(step.answer)),
                          figures ? signed_percent(step.judgement.shift) : "-",
                          figures ? interval_text(step.judgement.interval) : "-", step.reason, step.subject});
  }
  return table;
}

}  // namespace

Document bisect_document(const BisectReport& report) {
  Document document{.title = "Bisection", .blocks = {}};
  document.blocks.emplace_back(Verdict{verdict_text(report)});
  if (!report.steps.empty()) document.blocks.emplace_back(steps_table(report));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "{} has changed by {} between {} and {}. Each commit took turns with {}; a bad one is slower by at least half of "
      "that.",
      report.range.name, signed_percent(report.range.shift), short_commit(report.range.good),
      short_commit(report.range.bad), short_commit(report.range.good))});
  return document;
}

std::string bisect_json(const BisectReport& report) {
  Json steps = Json::array(), suspects = Json::array();
  for (const BisectStep& step : report.steps) {
    const bool figures = step.judgement.compared();
    const auto figure = [figures](double value) { return figures ? Json(value) : Json(); };
    steps.push_back({{"commit", step.commit},
                     {"subject", step.subject},
                     {"answer", std::string(to_string(step.answer))},
                     {"reason", step.reason},
                     {"shift", figure(step.judgement.shift)},
                     {"shift_low", figure(step.judgement.interval.low)},
                     {"shift_high", figure(step.judgement.interval.high)}});
  }
  for (std::size_t i = 0; i < report.first_bad.size(); ++i)
    suspects.push_back({{"commit", report.first_bad[i]}, {"subject", report.subjects[i]}});
  return Json{{"format", 1},
              {"case", report.range.name},
              {"good", report.range.good},
              {"bad", report.range.bad},
              {"shift", report.range.shift},
              {"first_bad", report.first_bad.size() == 1 ? suspects.front() : Json()},
              {"suspects", suspects},
              {"obstacle", report.obstacle.empty() ? Json() : Json(report.obstacle)},
              {"steps", steps}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace hbench
