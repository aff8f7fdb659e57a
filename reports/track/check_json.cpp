#include "reports/track/check.hpp"

#include <nlohmann/json.hpp>

#include "analysis/track/rule_json.hpp"

/// For programs; `reports/schemas/track-check-1.json` says what is in it.

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// Of the JSON that `--json` prints; a new field does not raise it, another meaning does.
constexpr int kFormat = 1;

Json run_json(const Run& run) {
  return {{"run", run.id > 0 ? Json(run.id) : Json()},
          {"started_at", run.started_at},
          {"version", run.version},
          {"labels", run.labels}};
}

std::string rule_json(const PairRule& rule) {
  return Json{
      {"least_effect", rule.least_effect}, {"level", rule.level}, {"pairs", rule.pairs}, {"confirm", rule.confirm}}
      .dump();
}

Json paired_json(const PairedSides& sides) {
  return {{"base", sides.base}, {"head", sides.head}, {"pairs", sides.pairs}};
}

Json result_json(const TrackedResult& result) {
  const TrackJudgement& judged = result.judgement;
  Json json{{"name", result.sides.name},
            {"question", result.sides.question},
            {"verdict", std::string(to_string(judged.verdict))},
            {"reason", judged.reason},
            {"next_step", judged.next_step.empty() ? Json() : Json(judged.next_step)},
            {"unit", result.sides.unit}};
  const bool figures = judged.compared();
  const auto figure = [figures](double value) { return figures ? Json(value) : Json(); };
  json["before"] = figure(judged.before);
  json["after"] = figure(judged.after);
  json["shift"] = figure(judged.shift);
  json["shift_low"] = figure(judged.interval.low);
  json["shift_high"] = figure(judged.interval.high);
  json["p"] = figure(judged.p);
  json["p_corrected"] = figure(judged.corrected);
  json["resolution"] = figure(judged.resolution);
  json["baseline_runs"] = judged.runs;
  json["baseline_launches"] = judged.baseline_launches;
  json["head_launches"] = judged.head_launches;
  json["changed"] = result.changed;
  json["verdict_id"] = result.id > 0 ? Json(result.id) : Json();
  return json;
}

}  // namespace

std::string track_json(const TrackReport& report) {
  Json runs = Json::array(), results = Json::array();
  for (const Run& run : report.runs) runs.push_back(run_json(run));
  for (const TrackedResult& result : report.results) results.push_back(result_json(result));
  return Json{{"format", kFormat},
              {"exit_code", static_cast<int>(report.exit_code())},
              {"head", run_json(report.head)},
              {"baseline", report.request.baseline},
              {"baseline_in_words", report.baseline_in_words()},
              {"baseline_runs", runs},
              {"paired", report.paired ? paired_json(*report.paired) : Json()},
              {"rule", Json::parse(report.paired ? rule_json(report.paired->rule) : rule_json(report.request.rule))},
              {"results", results},
              {"notes", report.notes}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace hbench
