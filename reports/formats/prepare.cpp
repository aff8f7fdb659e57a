#include "reports/formats/prepare.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

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

std::string_view to_string(Mark mark) {
  constexpr std::array<std::string_view, 5> kNames{"measured", "emulated", "simulated", "published", "ideal"};
  return kNames.at(static_cast<std::size_t>(mark));
}

}  // namespace hbench
