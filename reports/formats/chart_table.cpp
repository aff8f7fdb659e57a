#include "reports/formats/chart_table.hpp"

#include <fmt/format.h>

#include <map>

#include "reports/formats/plain_text.hpp"
#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

/// `83.4 % (81.0 to 85.9)`: the unit is said once.
std::string cell(const ChartPoint& point, bool percent) {
  const std::string figure = format_figure(point.y, percent);
  if (!point.low || !point.high) return figure;
  std::string low = format_figure(*point.low, percent);
  std::string high = format_figure(*point.high, percent);
  if (percent)
    for (std::string* limit : {&low, &high}) limit->resize(limit->size() - 2);
  return fmt::format("{} ({} to {})", figure, low, high);
}

}  // namespace

Table chart_table(const Chart& chart) {
  std::map<double, std::size_t> places;  // their columns
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points) places[point.x];

  Table table{.caption = fmt::format("{} over {}", chart.y_title, chart.x_title), .columns = {"series", "evidence"}};
  for (auto& [x, column] : places) {
    column = table.columns.size();
    table.columns.push_back(format_figure(x, false));
  }
  table.numeric.assign(table.columns.size(), true);
  table.numeric[0] = table.numeric[1] = false;

  for (const Series& series : chart.series) {
    std::vector<std::string> row(table.columns.size());
    row[0] = series.label;
    row[1] = to_string(series.mark);
    for (const ChartPoint& point : series.points) {
      std::string& text = row[places[point.x]];
      text += (text.empty() ? "" : "; ") + cell(point, chart.y_percent);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace hbench
