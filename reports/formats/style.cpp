#include "reports/formats/style.hpp"

#include <algorithm>
#include <array>

namespace hbench {
namespace {

/// Blue, vermilion, green, purple, orange, sky blue, ink.
constexpr std::array kColours{Colour{"#0072b2", "#4aa8e0"}, Colour{"#d55e00", "#f08040"}, Colour{"#009e73", "#2fc79b"},
                              Colour{"#cc79a7", "#df9cc2"}, Colour{"#e69f00", "#f0b73e"}, Colour{"#56b4e9", "#8fd0f5"},
                              Colour{"#333333", "#dddddd"}};
constexpr Colour kIdealColour{"#8a8a8a", "#8f959c"};
constexpr int kDashes = 4;

void add(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

int position(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int>(std::ranges::find(names, name) - names.begin());
}

/// Observed points stand alone on the model's line where the chart has one; otherwise they are joined.
bool has_model_line(const Chart& chart, const Series& observed) {
  return std::ranges::any_of(chart.series, [&](const Series& other) {
    return other.mark == Mark::simulated && other.group == observed.group && other.family == observed.family;
  });
}

/// A band needs two places to stretch between.
bool has_band(const Series& series) {
  return series.mark == Mark::simulated &&
         std::ranges::count_if(series.points, [](const ChartPoint& point) { return point.low || point.high; }) > 1;
}

}  // namespace

Styles::Styles(const std::vector<const Chart*>& charts) {
  for (const Chart* chart : charts)
    for (const Series& series : chart->series) {
      if (series.mark == Mark::ideal) continue;
      add(groups_, series.group);
      add(families_, series.family);
    }
}

void Styles::add_tints(const Table& table) {
  for (const auto& row : table.tints)
    for (const Tint& tint : row)
      if (!tint.group.empty()) add(groups_, tint.group);
}

Colour Styles::colour_of(const std::string& group) const {
  return kColours[static_cast<std::size_t>(position(groups_, group)) % kColours.size()];
}

SeriesStyle Styles::of(const Chart& chart, const Series& series) const {
  if (series.mark == Mark::ideal) return {.colour = kIdealColour, .dash = 1, .line = true};
  const int repeats = position(groups_, series.group) / static_cast<int>(kColours.size());
  const bool simulated = series.mark == Mark::simulated;
  // Panels tell families apart.
  return {.colour = colour_of(series.group),
          .dash = ((chart.panels ? 0 : position(families_, series.family)) + repeats) % kDashes,
          .line = simulated || (series.mark != Mark::published && !has_model_line(chart, series)),
          .small = simulated,
          .band = has_band(series)};
}

}  // namespace hbench
