#include "reports/formats/thin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

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

}  // namespace

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

}  // namespace hbench
