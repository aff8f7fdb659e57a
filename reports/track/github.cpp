#include "reports/track/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "reports/formats/plain_text.hpp"

/// What the runner of GitHub's actions reads in a job's log, on standard output and standard error alike.

namespace hbench {
namespace {

/// GitHub's own escapes; a property may hold no `:` and `,` either.
std::string command_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : clean_text(text)) {
    const bool escaped = c == '%' || (property && (c == ':' || c == ','));
    out += escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string track_annotations(const TrackReport& report) {
  std::string lines;
  for (const TrackedResult& result : report.results) {
    const TrackJudgement& judged = result.judgement;
    const bool bad = judged.verdict == TrackVerdict::regressed || judged.suspected || !result.sides.failure.empty();
    if (!bad && judged.verdict != TrackVerdict::inconclusive && judged.verdict != TrackVerdict::incomparable &&
        judged.verdict != TrackVerdict::missing)
      continue;
    // Who looks at a pull request wants to know by how much; the statistics are on the page.
    std::string text = judged.verdict == TrackVerdict::regressed ? change_text(result) : judged.reason;
    if (!judged.next_step.empty()) text += "; " + judged.next_step;
    if (!result.changed.empty()) text += fmt::format(". {}", fmt::join(result.changed, " "));
    lines += fmt::format("::{} title={}::{}\n", bad ? "error" : "warning",
                         command_text(fmt::format("{}: {}", to_string(judged.verdict), result.sides.name), true),
                         command_text(text, false));
  }
  return lines;
}

std::pair<std::string, std::string> without_commands() {
  std::random_device random;
  const std::string token = fmt::format("hbench-{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
  return {fmt::format("::stop-commands::{}\n", token), fmt::format("::{}::\n", token)};
}

}  // namespace hbench
