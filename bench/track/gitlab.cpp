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

/// A line for each case that has the figure; nothing where none has. `unit`: only of those whose values have it.
std::string family(const TrackReport& report, std::string_view name, std::string_view name_of_unit,
                   std::string_view help, std::string_view unit, double TrackJudgement::*figure) {
  std::string lines;
  for (const TrackedResult& each : report.results) {
    const double value = each.judgement.*figure;
    if (!each.judgement.compared() || !std::isfinite(value) || (!unit.empty() && each.sides.unit != unit)) continue;
    lines += fmt::format("{}{{case=\"{}\"}} {:.4g}\n", name, label_value(each.sides.name), value);
  }
  return lines.empty() ? "" : head_of_family(name, name_of_unit, help) + lines;
}

}  // namespace

std::string track_metrics(const TrackReport& report) {
  constexpr double TrackJudgement::*kAfter = &TrackJudgement::after;
  std::string text = family(report, "hbench_track_seconds", "seconds",
                            "Median over launches of the slowest rank's time.", "s", kAfter);
  text += family(report, "hbench_track_bytes_per_second", "", "Bus bandwidth that has a limit.", "B/s", kAfter);
  text += family(report, "hbench_track_samples_per_second", "", "Throughput that has a limit.", "samples/s", kAfter);
  text += family(report, "hbench_track_change_ratio", "ratio",
                 "By which fraction the figure is above the baseline's (Hodges and Lehmann), or its limit.", "",
                 &TrackJudgement::shift);
  text += head_of_family("hbench_track_cases", "", "Cases with each verdict.");
  for (const TrackVerdict verdict : kVerdicts)
    text += fmt::format("hbench_track_cases{{verdict=\"{}\"}} {}\n", to_string(verdict), report.count(verdict));
  return text + "# EOF\n";
}

}  // namespace hbench
