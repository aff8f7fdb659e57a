#include <fmt/format.h>

#include <array>
#include <cmath>

#include "bench/track/check.hpp"
#include "reports/formats/plain_text.hpp"

/// OpenMetrics (its text format 1.0.0), of which GitLab shows in a merge request what differs from the target branch.

namespace hbench {
namespace {

constexpr std::array kVerdicts{TrackVerdict::pass,         TrackVerdict::regressed, TrackVerdict::improved,
                               TrackVerdict::inconclusive, TrackVerdict::missing,   TrackVerdict::fresh,
                               TrackVerdict::incomparable};

/// The value of a label between its quotes. GitLab cuts each line off at its first `#`, even between quotes, and splits
/// the rest as a shell would: a full-width sign stands for it.
std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '#' ? "\xEF\xBC\x83" : std::string(1, c);
  }
  return out;
}

std::string head_of_family(std::string_view name, std::string_view unit, std::string_view help) {
  std::string lines = fmt::format("# TYPE {} gauge\n", name);
  if (!unit.empty()) lines += fmt::format("# UNIT {} {}\n", name, unit);
  return lines + fmt::format("# HELP {} {}\n", name, help);
}

/// A line for each case that has the figure.
std::string family(const TrackReport& report, std::string_view name, std::string_view unit, std::string_view help,
                   double TrackJudgement::*figure) {
  std::string lines = head_of_family(name, unit, help);
  for (const TrackedResult& each : report.results) {
    const double value = each.judgement.*figure;
    if (!each.judgement.compared() || !std::isfinite(value)) continue;
    lines += fmt::format("{}{{case=\"{}\"}} {:.4g}\n", name, label_value(each.sides.name), value);
  }
  return lines;
}

}  // namespace

std::string track_metrics(const TrackReport& report) {
  std::string text = family(report, "hbench_track_seconds", "seconds",
                            "Median over launches of the slowest rank's time.", &TrackJudgement::after);
  text += family(report, "hbench_track_change_ratio", "ratio",
                 "By which fraction the time is above the baseline's (Hodges and Lehmann).", &TrackJudgement::shift);
  text += head_of_family("hbench_track_cases", "", "Cases with each verdict.");
  for (const TrackVerdict verdict : kVerdicts)
    text += fmt::format("hbench_track_cases{{verdict=\"{}\"}} {}\n", to_string(verdict), report.count(verdict));
  return text + "# EOF\n";
}

}  // namespace hbench
