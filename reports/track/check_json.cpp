#include "reports/track/check.hpp"

/// For programs; `reports/track/track-check-1.json` says what is in it.

#include "analysis/track/rule_json.hpp"
#include "collectives/base/read_json.hpp"
#include "reports/rows/row.hpp"

namespace hbench {
namespace {

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

std::string track_json(const TrackReport& report) {
  return object_text(Form::values, "hbench track check --json", report, report_fields);
}

}  // namespace hbench
