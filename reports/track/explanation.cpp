#include "reports/track/explanation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/records/words.hpp"

namespace hbench {
namespace {

/// The launches of a run, as `12.31 ms, 12.35 ms`.
std::string launches_text(const Launch& launches, const std::string& unit) {
  std::vector<std::string> all;
  for (const double value : launches) all.push_back(value_text(value, unit));
  return fmt::format("{}", fmt::join(all, ", "));
}

Table launches_table(const Explanation& explanation) {
  Table table{.caption = "Launches: the median over iterations",
              .columns = {"run", numbers("middle"), texts("launches", 1)},
              .first_rows = 40};
  const auto add = [&](const std::string& what, const Launch& launches) {
    table.rows.push_back(
        {what, value_text(median(launches), explanation.unit), launches_text(launches, explanation.unit)});
  };
  for (const Launch& each : explanation.values.earlier) add("before an accepted change", each);
  for (const Launch& each : explanation.values.baseline) add("baseline", each);
  const auto& head = explanation.values.head;
  const std::size_t first = deciding_launches(head.size(), explanation.rule);
  const Launch deciding(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(first));
  const Launch confirming(head.begin() + static_cast<std::ptrdiff_t>(first), head.end());
  if (!deciding.empty()) add("judged: decide", deciding);
  if (!confirming.empty()) add("judged: confirm", confirming);
  return table;
}

Table steps_table(const Explanation& explanation) {
  const StoredVerdict& verdict = explanation.verdict;
  Table table{.caption = "What the rule asks, and what it found", .columns = {"question", "found", "asked for"}};
  const TrackRule& rule = explanation.rule;
  const auto add = [&](std::string what, std::string found, std::string wanted) {
    table.rows.push_back({std::move(what), std::move(found), std::move(wanted)});
  };
  add("How large is the change?",
      fmt::format("{}, 95 % {}", signed_percent(verdict.shift), interval_text(verdict.interval)),
      fmt::format("{:.3g} % at least", 100 * rule.least_effect));
  add("How often does chance alone give it?",
      fmt::format("p {:.2g}, over the gate {:.2g}", verdict.p, verdict.corrected),
      fmt::format("{:g} % at most", 100 * rule.level));
  if (explanation.again)
    add("By how much do runs of the baseline differ?", fmt::format("{:.2g} %", 100 * explanation.again->resolution),
        fmt::format("less than the change ({:g} deviations)", rule.spread));
  const auto launches = static_cast<std::size_t>(verdict.launches);
  const std::size_t further = launches - deciding_launches(launches, rule);
  add("Was it found again?", fmt::format("{} further launches", further),
      rule.confirming > 0 ? fmt::format("{} of them, before it is called a change", rule.confirming) : "not asked for");
  return table;
}

std::string verdict_text(const Explanation& explanation) {
  const StoredVerdict& verdict = explanation.verdict;
  std::string text = fmt::format("Verdict {} on run {}, {}: {}: {}.", verdict.id, explanation.judgement.run,
                                 explanation.name, verdict.verdict, verdict.reason);
  if (explanation.lost > 0)
    return text +
           fmt::format(" It cannot be given again: {} runs of the baseline are not in the database.", explanation.lost);
  if (!explanation.again) return text;
  const std::string_view now = to_string(explanation.again->verdict);
  return text + (now == verdict.verdict
                     ? " The same rule on the same launches says so again."
                     : fmt::format(" This version says {} of the same launches: {}.", now, explanation.again->reason));
}

}  // namespace

Document explanation_document(const Explanation& explanation) {
  Document document{.title = fmt::format("Verdict {}", explanation.verdict.id)};
  document.blocks.emplace_back(Verdict{verdict_text(explanation)});
  if (explanation.verdict.compared) document.blocks.emplace_back(steps_table(explanation));
  document.add_table(launches_table(explanation));
  document.blocks.emplace_back(
      Paragraph{fmt::format("Given at {} by hbench {}, against {}.", explanation.judgement.judged_at,
                            explanation.judgement.version, explanation.judgement.baseline)});
  return document;
}

std::string explanation_json(const Explanation& explanation, Form form) {
  return object_text(form, "hbench track explain --json", explanation, [](Row& row, const Explanation& each) {
    row.field("verdict_id", each.verdict.id);
    row.field("run", each.judgement.run, "that was judged");
    row.field("name", each.name, "of the case");
    row.field("question", each.verdict.question, "the case's key");
    row.field("verdict", each.verdict.verdict);
    row.field("reason", each.verdict.reason);
    row.field("judged_at", each.judgement.judged_at, "UTC");
    row.field("version", each.judgement.version, "of hbench");
    row.field("baseline", each.judgement.baseline, "in words");
    row.put("rule", row.form() == Form::values ? Json::parse(each.judgement.rule) : Json{{"type", "object"}},
            "as the rule of hbench track check");
    row.field("lost_runs", each.lost, "of the baseline: in none of the databases");
    row.field("baseline_launches", each.values.baseline, "by run");
    row.field("earlier_launches", each.values.earlier, "by run, before an accepted change");
    row.field("head_launches", each.values.head);
    row.field("again", each.again ? std::optional(to_string(each.again->verdict)) : std::nullopt,
              "what this version says of the same launches");
  });
}

Document verdicts_document(const CheckedRun& checked) {
  Document document{.title = fmt::format("Verdicts on run {}", checked.run)};
  for (const StoredJudgement& judgement : checked.judgements) {
    Table table{.caption = fmt::format("{}, against {}", judgement.judged_at, judgement.baseline),
                .columns = {numbers("verdict"), "case", "says", numbers("change", 1), texts("why", 2)},
                .first_rows = 20};
    for (const StoredVerdict& each : judgement.verdicts)
      table.rows.push_back({fmt::format("{}", each.id),
                            checked.names.contains(each.question) ? checked.names.at(each.question) : each.question,
                            each.verdict, each.compared ? signed_percent(each.shift) : "-", each.reason});
    document.blocks.emplace_back(std::move(table));
  }
  document.blocks.emplace_back(Paragraph{"hbench track explain VERDICT says how one came about."});
  return document;
}

}  // namespace hbench
