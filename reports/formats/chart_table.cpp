#include "reports/formats/chart_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

std::string place_text(const Chart& chart, double x) { return chart.x_dates ? date_text(x) : format_figure(x, false); }

void add_columns(Table& table, const std::vector<std::string>& columns) {
  for (const std::string& column : columns) table.columns.push_back(numbers(column));
}

void add_by_place(Table& table, const Chart& chart, const std::set<double>& places) {
  std::vector<std::string> columns;
  for (const double x : places) columns.push_back(place_text(chart, x));
  add_columns(table, columns);
  for (const Series& series : chart.series) {
    std::vector<std::string> row(table.columns.size());
    row[0] = series.label;
    row[1] = to_string(series.mark);
    for (const ChartPoint& point : series.points) {
      const auto column = std::distance(places.begin(), places.find(point.x)) + 2;
      std::string& text = row[static_cast<std::size_t>(column)];
      text += (text.empty() ? "" : "; ") + cell(point, chart.y_percent);
    }
    table.rows.push_back(std::move(row));
  }
}

/// A row for each point: of very many places nearly every cell of the other form would be empty.
void add_by_point(Table& table, const Chart& chart) {
  add_columns(table, {chart.x_title, chart.y_title});
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points)
      table.rows.push_back({series.label, std::string(to_string(series.mark)), place_text(chart, point.x),
                            cell(point, chart.y_percent)});
}

}  // namespace

Table chart_table(const Chart& chart) {
  constexpr std::size_t kMostColumns = 40;
  std::set<double> places;
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points) places.insert(point.x);

  Table table{.caption = fmt::format("{} over {}", chart.y_title, chart.x_title), .columns = {"series", "evidence"}};
  if (places.size() > kMostColumns) {
    add_by_point(table, chart);
  } else {
    add_by_place(table, chart, places);
  }
  for (const ReferenceLine& line : chart.lines) {
    std::vector<std::string>& row = table.rows.emplace_back(table.columns.size());
    row[0] = line.label;
    row[1] = line.vertical ? fmt::format("line at {} {}", place_text(chart, line.at), chart.x_title)
                           : fmt::format("line at {}", format_figure(line.at, chart.y_percent));
  }
  return table;
}

}  // namespace hbench
