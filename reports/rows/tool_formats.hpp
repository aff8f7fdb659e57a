#pragma once

/// What tools read that keep and compare figures of benchmarks: a table of formats. `hbench import` reads them back.
/// Times are in ns; a value is the median of the launches, with the least and the largest of them.
///
/// `bencher` is the Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format): of each benchmark its
/// measures, with `value`, `lower_value` and `upper_value`. Times are its `latency`, and `ops/s` its `throughput`;
/// Bencher makes any other measure, which is called by its unit. `customSmallerIsBetter` and `customBiggerIsBetter` are
/// what github-action-benchmark calls so (github.com/benchmark-action/github-action-benchmark, src/extract.ts): lists
/// of `name`, `unit`, `value`, and `range` as a text. `google-benchmark` is Google Benchmark's JSON as its
/// `tools/compare.py` reads it (tools/gbench/report.py): entries that have one `name` are repetitions, with
/// `time_unit`, `real_time` and `cpu_time`; this is the real time again, since it is needed and nothing else is known.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// One case that was timed.
struct ToolFigure {
  std::string name;  ///< no two figures of a text have the same
  std::string unit;  ///< `s`, or of what is no time its own
  bool larger_is_worse = true;
  Launch launches;  ///< a value each; not empty
};

/// Those of the cases that are done and were timed, in their order.
std::vector<ToolFigure> tool_figures(const std::vector<CaseResult>& results);

struct ToolFormat {
  std::string_view name;
  nlohmann::ordered_json (*none)();                                    ///< without a figure
  bool (*takes)(const ToolFigure& figure);                             ///< whether it has a place for such a figure
  void (*add)(const ToolFigure& figure, nlohmann::ordered_json& all);  ///< whose times are in ns
};

std::span<const ToolFormat> tool_formats();
/// The format of that name; null for none.
const ToolFormat* tool_format(std::string_view name);

/// The figures that the format takes. Pure.
std::string tool_text(const ToolFormat& format, std::vector<ToolFigure> figures);

}  // namespace hbench
