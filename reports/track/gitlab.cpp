#include "reports/track/check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

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

/// A line for each case that has the figure; nothing where none has.
template <class Figure, class Labels>
std::string family(const TrackReport& report, std::string_view name, std::string_view unit, std::string_view help,
                   Figure figure, Labels labels) {
  std::string lines;
  for (const TrackedResult& each : report.results) {
    const std::optional<double> value = each.judgement.compared() ? figure(each) : std::nullopt;
    if (value && std::isfinite(*value)) lines += fmt::format("{}{{{}}} {:.4g}\n", name, labels(each), *value);
  }
  return lines.empty() ? "" : head_of_family(name, unit, help) + lines;
}

}  // namespace

std::string track_metrics(const TrackReport& report) {
  using Value = std::optional<double>;
  const auto is_time = [](const TrackedResult& each) { return each.sides.unit == "s"; };
  const auto name = [](const TrackedResult& each) { return fmt::format("case=\"{}\"", label_value(each.sides.name)); };
  std::string text = family(
      report, "hbench_track_seconds", "seconds", "Median over launches of the median iteration's time.",
      [&](const TrackedResult& each) { return is_time(each) ? Value(each.judgement.after) : Value(); }, name);
  text += family(
      report, "hbench_track_value", "", "Median over launches of what is no time.",
      [&](const TrackedResult& each) { return is_time(each) ? Value() : Value(each.judgement.after); },
      [&](const TrackedResult& each) {
        return fmt::format("{},unit=\"{}\"", name(each), label_value(each.sides.unit));
      });
  text += family(
      report, "hbench_track_change_ratio", "ratio",
      "By which fraction the figure is above the baseline's (Hodges and Lehmann), or its limit.",
      [](const TrackedResult& each) { return Value(each.judgement.shift); }, name);
  text += head_of_family("hbench_track_cases", "", "Cases with each verdict.");
  for (const TrackVerdict verdict : kVerdicts)
    text += fmt::format("hbench_track_cases{{verdict=\"{}\"}} {}\n", to_string(verdict), report.count(verdict));
  return text + "# EOF\n";
}

}  // namespace hbench
