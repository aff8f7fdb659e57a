// For programs; `reports/track/track-check-1.json` says what is in it.

#include "reports/track/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/records/words.hpp"
#include "collectives/base/read_json.hpp"
#include "reports/rows/row.hpp"

namespace hbench {
namespace {

std::string run_text(const Run& run) {
  std::vector<std::string> labels;
  for (const auto& [key, value] : run.labels)
    labels.push_back(fmt::format("{}={}", key, key == "commit" ? short_commit(value) : value));
  return fmt::format("run {}{}", run.id, labels.empty() ? "" : fmt::format(" ({})", fmt::join(labels, ", ")));
}

/// In the order in which a reader needs them.
constexpr std::array kOrder{TrackVerdict::regressed,    TrackVerdict::incomparable, TrackVerdict::missing,
                            TrackVerdict::inconclusive, TrackVerdict::improved,     TrackVerdict::fresh,
                            TrackVerdict::pass};

std::vector<const TrackedResult*> in_order(const TrackReport& report) {
  std::vector<const TrackedResult*> ordered;
  for (const TrackVerdict verdict : kOrder)
    for (const TrackedResult& each : report.results)
      if (each.judgement.verdict == verdict) ordered.push_back(&each);
  return ordered;
}

std::string verdict_text(const TrackReport& report) {
  std::vector<std::string> counts;
  for (const TrackVerdict verdict : kOrder)
    if (const std::size_t count = report.count(verdict); count > 0)
      counts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  const std::string what = report.results.empty() ? "no timed case" : fmt::format("{}", fmt::join(counts, ", "));
  if (report.paired)
    return fmt::format("{}: the head against the base, in {} pair{} of launches.", what, report.paired->pairs,
                       report.paired->pairs == 1 ? "" : "s");
  const std::string baseline = report.baseline_in_words();
  if (report.runs.empty() && !report.request.frozen.empty())
    return fmt::format("{}: {}. There is no baseline: {} has no run but this one.", run_text(report.head), what,
                       baseline);
  if (report.begins_baseline)
    return fmt::format(
        "{}: {}. It is the first run with {}, to which later ones are held: changes are called regressed or improved "
        "from {} such runs on (next: hbench track run).",
        run_text(report.head), what, baseline, report.request.rule.fewest_runs);
  if (report.runs.empty())
    return fmt::format("{}: {}. There is no baseline: no earlier run has {}.", run_text(report.head), what, baseline);
  return fmt::format("{}: {}, against {} run{} {} {}.", run_text(report.head), what, report.runs.size(),
                     report.runs.size() == 1 ? "" : "s", report.request.frozen.empty() ? "with" : "of", baseline);
}

Table changes_table(const std::vector<const TrackedResult*>& results) {
  Table table{.caption = "What is not a pass",
              .columns = {"case", "verdict", numbers("before", 3), numbers("after", 3), numbers("change", 1),
                          numbers("95 % interval", 2), "why", texts("next", 4)},
              .first_rows = 20};
  for (const TrackedResult* each : results) {
    const TrackJudgement& judged = each->judgement;
    if (judged.verdict == TrackVerdict::pass && judged.next_step.empty()) continue;
    const bool figures = judged.compared();
    table.rows.push_back({each->sides.name, std::string(to_string(judged.verdict)),
                          figures ? value_text(judged.before, each->sides.unit) : "-",
                          figures ? value_text(judged.after, each->sides.unit) : "-",
                          figures ? signed_percent(judged.shift) : "-", figures ? interval_text(judged.interval) : "-",
                          judged.reason, judged.next_step.empty() ? "-" : judged.next_step});
  }
  return table;
}

Table all_table(const std::vector<const TrackedResult*>& results) {
  Table table{.caption = "All cases",
              .columns = {"case", "verdict", numbers("before", 3), numbers("after", 2), numbers("change"),
                          numbers("95 % interval"), numbers("launches", 4), numbers("p", 5)},
              .folded = true,
              .first_rows = 20};
  for (const TrackedResult* each : results) {
    const TrackJudgement& judged = each->judgement;
    if (!judged.compared()) continue;
    table.rows.push_back({each->sides.name, std::string(to_string(judged.verdict)),
                          value_text(judged.before, each->sides.unit), value_text(judged.after, each->sides.unit),
                          signed_percent(judged.shift), interval_text(judged.interval),
                          fmt::format("{}, {}", judged.baseline_launches, judged.head_launches),
                          judged.against_limit ? "-" : fmt::format("{:.2g}", judged.corrected)});
  }
  return table;
}

/// How a verdict was given: what the rule asks, and what was found.
std::string grounds_text(const TrackedResult& result, const TrackRule& rule) {
  const TrackJudgement& judged = result.judgement;
  const std::size_t deciding = deciding_launches(judged.head_launches, rule);
  return fmt::format(
      "How it was judged: the change is {} (95 % {}), and {:.3g} % at least are asked for. Chance gives it with p "
      "{:.2g}, over the gate {:.2g} ({:g} % at most); runs of the baseline differ by {:.2g} %. {} launches of the head "
      "decide, and {} further ones have to show it again.",
      signed_percent(judged.shift), interval_text(judged.interval), 100 * rule.least_effect, judged.p, judged.corrected,
      100 * rule.level, 100 * judged.resolution, deciding, judged.head_launches - deciding);
}

/// What else differs in the first cases that have become slower or faster.
std::vector<Block> changes(const std::vector<const TrackedResult*>& results, const TrackReport& report) {
  constexpr std::size_t kMost = 5;
  std::vector<Block> blocks;
  for (const TrackedResult* each : results)
    if (!each->changed.empty() && blocks.size() < kMost) {
      const bool by_rule = !report.paired && !each->judgement.against_limit && each->judgement.compared();
      blocks.emplace_back(
          Paragraph{fmt::format("{}: {}{}", each->sides.name, fmt::join(each->changed, " "),
                                by_rule ? " " + grounds_text(*each, report.request.rule) : std::string())});
    }
  return blocks;
}

std::string rule_text(const TrackRule& rule) {
  return fmt::format(
      "A change is one of {:.3g} % at least, that exceeds {:g} deviations of the baseline's runs, that chance gives "
      "{:g} % of gates of equal code (exact rank test on launches, corrected by Holm for the cases){}. Values are "
      "medians over iterations (a step: the mean over ranks; else the slowest rank's). A change is the middle one of "
      "all ratios of a launch to one before (Hodges and Lehmann), and not the ratio of the two medians beside it.",
      100 * rule.least_effect, rule.spread, 100 * rule.level,
      rule.confirming > 0 ? fmt::format(", and that {} further launches show again", rule.confirming) : "");
}

std::string rule_text(const PairedSides& sides) {
  return fmt::format(
      "The base is '{}', the head '{}'. They took turns; each launch is held to its neighbour. A change is one of "
      "{:.3g} % at least (the middle one of the pairs' ratios and their means by Hodges and Lehmann, not the ratio of "
      "the two medians beside it), that chance gives {:g} % of gates of equal sides (exact signed-rank "
      "test on {} pairs, corrected by Holm for the cases){}.",
      one_line(sides.base), one_line(sides.head), 100 * sides.rule.least_effect, 100 * sides.rule.level,
      sides.rule.pairs, sides.rule.confirm ? ", and that further pairs show again" : "");
}

void run_fields(Row& row, const Run& run) {
  row.field("run", if_positive(run.id));
  row.field("started_at", run.started_at);
  row.field("version", run.version);
  row.field("labels", run.labels);
}

void pair_rule_fields(Row& row, const PairRule& rule) {
  row.field("least_effect", rule.least_effect);
  row.field("level", rule.level);
  row.field("pairs", rule.pairs);
  row.field("confirm", rule.confirm);
}

void paired_fields(Row& row, const PairedSides& sides) {
  row.field("base", sides.base);
  row.field("head", sides.head);
  row.field("pairs", sides.pairs);
}

void result_fields(Row& row, const TrackedResult& result) {
  const TrackJudgement& judged = result.judgement;
  const auto figure = [&](double value) { return if_known(judged.compared(), value); };
  row.field("name", result.sides.name);
  row.field("question", result.sides.question);
  row.field("verdict", to_string(judged.verdict));
  row.field("reason", judged.reason);
  row.field("next_step", if_stated(judged.next_step));
  row.field("unit", result.sides.unit);
  row.field("before", figure(judged.before));
  row.field("after", figure(judged.after));
  row.field("shift", figure(judged.shift));
  row.field("shift_low", figure(judged.interval.low));
  row.field("shift_high", figure(judged.interval.high));
  row.field("p", figure(judged.p));
  row.field("p_corrected", figure(judged.corrected));
  row.field("resolution", figure(judged.resolution));
  row.field("baseline_runs", judged.runs);
  row.field("baseline_launches", judged.baseline_launches);
  row.field("head_launches", judged.head_launches);
  row.field("changed", result.changed);
  row.field("verdict_id", if_positive(result.id));
}

/// A new field does not raise the format, another meaning does.
void report_fields(Row& row, const TrackReport& report) {
  row.field("format", 1);
  row.field("exit_code", static_cast<int>(report.exit_code()));
  row.object("head", report.head, run_fields);
  row.field("baseline", report.request.baseline);
  row.field("baseline_in_words", report.baseline_in_words());
  row.rows("baseline_runs", report.runs, run_fields);
  row.object("paired", report.paired, paired_fields);
  if (report.paired)
    row.object("rule", report.paired->rule, pair_rule_fields);
  else
    row.put("rule", read_json<Json>(rule_json(report.request.rule)));
  row.rows("results", report.results, result_fields);
  row.field("notes", report.notes);
}

}  // namespace

Document track_document(const TrackReport& report) {
  Document document{.title = "Regression check"};
  document.blocks.emplace_back(Verdict{verdict_text(report)});
  const std::vector<const TrackedResult*> results = in_order(report);
  document.add_table(changes_table(results));
  for (Block& each : changes(results, report)) document.blocks.push_back(std::move(each));
  document.add_table(all_table(results));
  for (const std::string& note : report.notes) document.blocks.emplace_back(Paragraph{note});
  document.blocks.emplace_back(Paragraph{report.paired ? rule_text(*report.paired) : rule_text(report.request.rule)});
  return document;
}

std::string track_json(const TrackReport& report) {
  return object_text(Form::values, "hbench track check --json", report, report_fields);
}

}  // namespace hbench
