#include "reports/track/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "reports/formats/plain_text.hpp"

/// JUnit's XML, which GitLab, Jenkins and many others show.

namespace hbench {
namespace {

/// One line of characters that XML 1.0 has (its section 2.2): clean text without U+FFFE and U+FFFF.
std::string xml(std::string_view text) {
  std::string clean = clean_text(text);
  for (const std::string_view absent : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = 0; (at = clean.find(absent, at)) != clean.npos;)
      clean.replace(at, absent.size(), "\xEF\xBF\xBD");
  return escaped_markup(clean, false);
}

std::string testcase(const TrackedResult& result) {
  const TrackJudgement& judged = result.judgement;
  const std::string_view verdict = to_string(judged.verdict);
  std::string inside;
  if (!result.sides.failure.empty())
    inside = fmt::format("<error message=\"{}\"/>", xml(judged.reason));
  else if (judged.verdict == TrackVerdict::regressed)
    inside = fmt::format(
        "<failure message=\"{}\" type=\"{}\">{}</failure>", xml(change_text(result)), verdict,
        xml(fmt::format("{}. {} Next: {}.", judged.reason, fmt::join(result.changed, " "), judged.next_step)));
  else if (judged.verdict != TrackVerdict::pass && judged.verdict != TrackVerdict::improved)
    inside = fmt::format("<skipped message=\"{}: {}\"/>", verdict, xml(judged.reason));
  const bool timed = result.sides.unit == "s" && std::isfinite(judged.after);
  return fmt::format("    <testcase classname=\"hbench.track\" name=\"{}\" time=\"{:.9g}\">{}</testcase>\n",
                     xml(result.sides.name), timed ? judged.after : 0, inside);
}

}  // namespace

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

}  // namespace hbench
