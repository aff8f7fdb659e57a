#include "reports/formats/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

void clean(std::string& text) { text = clean_text(text); }

void clean_chart(Chart& chart) {
  for (std::string* text : {&chart.title, &chart.x_title, &chart.y_title, &chart.caption}) clean(*text);
  for (Series& series : chart.series) {
    if (series.group.empty()) series.group = series.label;
    for (std::string* text : {&series.label, &series.group, &series.family}) clean(*text);
    for (ChartPoint& point : series.points) {
      clean(point.note);
      clean(point.label);
    }
  }
  for (ReferenceLine& line : chart.lines) clean(line.label);
}

struct Cleaner {
  void operator()(Heading& heading) const { clean(heading.text); }
  void operator()(Paragraph& paragraph) const { clean(paragraph.text); }
  void operator()(Verdict& verdict) const { clean(verdict.text); }
  void operator()(Warnings& warnings) const {
    for (std::string& text : warnings.texts) clean(text);
  }
  void operator()(Table& table) const {
    clean(table.caption);
    for (TableColumn& column : table.columns) clean(column.title);
    for (auto& row : table.rows) {
      row.resize(table.columns.size());
      for (std::string& cell : row) clean(cell);
    }
    for (auto& row : table.tints)
      for (Tint& tint : row)
        for (std::string* text : {&tint.group, &tint.label}) clean(*text);
  }
  void operator()(Lanes& lanes) const {
    clean(lanes.title);
    for (std::string& note : lanes.notes) clean(note);
    for (Lanes::Row& row : lanes.rows) {
      clean(row.name);
      for (Lanes::Box& box : row.boxes) clean(box.text);
    }
  }
  void operator()(Chart& chart) const { clean_chart(chart); }
  void operator()(ChartGroup& group) const {
    clean(group.title);
    for (Chart& chart : group.charts) clean_chart(chart);
  }
};

void name_charts(Document& document) {
  std::set<std::string> taken;
  for_each_chart(document, [&](Chart& chart) {
    const std::string stem = file_stem(chart.id);
    chart.id = stem;
    for (int copy = 2; !taken.insert(chart.id).second; ++copy) chart.id = fmt::format("{}-{}", stem, copy);
  });
}

void drop_undrawable_points(Chart& chart) {
  std::size_t dropped = 0;
  const auto undrawable = [&](const ChartPoint& point) {
    return !std::isfinite(point.x) || !std::isfinite(point.y) || (chart.x_log2 && point.x <= 0) ||
           (chart.y_log10 && point.y <= 0);
  };
  for (Series& series : chart.series) {
    dropped += std::erase_if(series.points, undrawable);
    for (ChartPoint& point : series.points) {
      if (point.low && (!std::isfinite(*point.low) || (chart.y_log10 && *point.low <= 0))) point.low.reset();
      if (point.high && !std::isfinite(*point.high)) point.high.reset();
    }
  }
  std::erase_if(chart.lines, [&](const ReferenceLine& line) { return !std::isfinite(line.at); });
  if (dropped > 0)
    add_to_caption(chart, dropped == 1 ? "1 point without a finite place is not shown."
                                       : fmt::format("{} points without a finite place are not shown.", dropped));
}

/// A picture is a thousand dots wide.
constexpr std::size_t kStretches = 200;
constexpr std::size_t kMostOfDocument = 40'000, kMostOfChart = 6000, kLeastOfChart = 500;  ///< points
constexpr std::size_t kMostRows = 1000;                                                    ///< of a table
constexpr std::size_t kPointsOfALabel = 5;  ///< as many bytes has what a series says of itself

/// Keeps peaks: the lowest and the highest point of each stretch, in their order.
void thin(std::vector<ChartPoint>& points) {
  if (points.size() <= 2 * kStretches) return;
  std::vector<ChartPoint> kept;
  for (std::size_t stretch = 0; stretch < kStretches; ++stretch) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(stretch * points.size() / kStretches);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>((stretch + 1) * points.size() / kStretches);
    auto [low, high] = std::minmax_element(begin, end, [](const auto& a, const auto& b) { return a.y < b.y; });
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  points = std::move(kept);
}

std::size_t count_points(const Chart& chart) {
  std::size_t count = 0;
  for (const Series& series : chart.series) count += series.points.size();
  return count;
}

void thin_chart(Chart& chart, std::size_t most) {
  const std::size_t all = count_points(chart);
  for (Series& series : chart.series) thin(series.points);
  // What is shown goes before the rest, and keeps its place.
  std::size_t kept = 0;
  for (const bool shown : {true, false})
    for (Series& series : chart.series) {
      if (series.shown != shown) continue;
      kept += series.points.size() + kPointsOfALabel;
      if (kept > most) series.points.clear();
    }
  std::erase_if(chart.series, [&](const Series& series) { return kept > most && series.points.empty(); });
  if (const std::size_t left = count_points(chart); left < all)
    add_to_caption(chart, fmt::format("{} of {} points are shown; hbench export writes all.", left, all));
}

void thin_table(Table& table) {
  if (table.rows.size() <= kMostRows) return;
  table.caption += fmt::format("{}the first {} of {} rows; hbench export writes all", table.caption.empty() ? "" : ": ",
                               kMostRows, table.rows.size());
  table.rows.resize(kMostRows);
}

void thin_warnings(Warnings& warnings) {
  if (warnings.texts.size() <= kMostRows) return;
  const std::size_t rest = warnings.texts.size() - kMostRows + 1;
  warnings.texts.resize(kMostRows - 1);
  warnings.texts.push_back(fmt::format("{} more", rest));
}

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

void add_to_caption(Chart& chart, std::string_view sentence) {
  if (!chart.caption.empty()) chart.caption += ' ';
  chart.caption += sentence;
}

Document readable(Document document) {
  clean(document.title);
  for (Block& block : document.blocks) std::visit(Cleaner{}, block);
  name_charts(document);
  return document;
}

Document drawable(Document document) {
  document = readable(std::move(document));
  for_each_chart(document, drop_undrawable_points);
  return document;
}

std::vector<const Chart*> charts_of(const Document& document) {
  std::vector<const Chart*> charts;
  for_each_chart(document, [&](const Chart& chart) { charts.push_back(&chart); });
  return charts;
}

std::string_view to_string(Mark mark) { return mark == Mark::ideal ? "ideal" : to_string(static_cast<Evidence>(mark)); }

Document thinned(Document document) {
  const std::size_t charts = std::max<std::size_t>(1, charts_of(document).size());
  const std::size_t most = std::clamp(kMostOfDocument / charts, kLeastOfChart, kMostOfChart);
  for_each_chart(document, [&](Chart& chart) { thin_chart(chart, most); });
  for (Block& block : document.blocks) {
    if (auto* table = std::get_if<Table>(&block)) thin_table(*table);
    if (auto* warnings = std::get_if<Warnings>(&block)) thin_warnings(*warnings);
  }
  return document;
}

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
