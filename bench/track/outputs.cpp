#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/track/check.hpp"
#include "bench/track/rule_json.hpp"
#include "reports/formats/plain_text.hpp"

/// Forms that other programs read. Names, labels and reasons came from outside: each form escapes them.

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// Of the JSON that `--json` prints; a new field does not raise it, another meaning does.
constexpr int kFormat = 1;

Json run_json(const Run& run) {
  return {{"run", run.id}, {"started_at", run.started_at}, {"version", run.version}, {"labels", run.labels}};
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

/// Also of control characters, which XML 1.0 cannot hold at all.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

/// GitHub's own escapes; a property may hold no `:` and `,` either.
std::string command_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : clean_text(text)) {
    const bool escaped = c == '%' || (property && (c == ':' || c == ','));
    out += escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string testcase(const TrackedResult& result) {
  const TrackJudgement& judged = result.judgement;
  const std::string_view verdict = to_string(judged.verdict);
  std::string inside;
  if (!result.sides.failure.empty())
    inside = fmt::format("<error message=\"{}\"/>", xml(judged.reason));
  else if (judged.verdict == TrackVerdict::regressed)
    inside = fmt::format("<failure message=\"{}\" type=\"{}\">{}</failure>", xml(judged.reason), verdict,
                         xml(judged.next_step));
  else if (judged.verdict != TrackVerdict::pass && judged.verdict != TrackVerdict::improved)
    inside = fmt::format("<skipped message=\"{}: {}\"/>", verdict, xml(judged.reason));
  return fmt::format("    <testcase classname=\"hbench.track\" name=\"{}\" time=\"{:.9g}\">{}</testcase>\n",
                     xml(result.sides.name), judged.after, inside);
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
              {"rule", Json::parse(rule_json(report.request.rule))},
              {"results", results},
              {"notes", report.notes}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string track_junit(const TrackReport& report) {
  std::size_t failures = 0, errors = 0, skipped = 0;
  std::string cases;
  for (const TrackedResult& result : report.results) {
    const std::string text = testcase(result);
    cases += text;
    failures += text.find("<failure ") != std::string::npos ? 1 : 0;
    errors += text.find("<error ") != std::string::npos ? 1 : 0;
    skipped += text.find("<skipped ") != std::string::npos ? 1 : 0;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"hbench track\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" timestamp=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      report.results.size(), failures, errors, skipped, xml(report.head.started_at), cases);
}

std::string track_annotations(const TrackReport& report) {
  std::string lines;
  for (const TrackedResult& result : report.results) {
    const TrackJudgement& judged = result.judgement;
    const bool bad = judged.verdict == TrackVerdict::regressed || !result.sides.failure.empty();
    if (!bad && judged.verdict != TrackVerdict::inconclusive && judged.verdict != TrackVerdict::incomparable &&
        judged.verdict != TrackVerdict::missing)
      continue;
    lines += fmt::format(
        "::{} title={}::{}\n", bad ? "error" : "warning",
        command_text(fmt::format("{}: {}", to_string(judged.verdict), result.sides.name), true),
        command_text(judged.next_step.empty() ? judged.reason : fmt::format("{}; {}", judged.reason, judged.next_step),
                     false));
  }
  return lines;
}

}  // namespace hbench
