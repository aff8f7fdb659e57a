#include "reports/formats/html/chart_json.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

std::string safe_in_script(const Json& json) {
  std::string out;
  for (char c : json.dump(-1, ' ', true)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Six digits are more than a picture shows, and a third of the bytes of all of them.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

Json optional_json(const std::optional<double>& value) { return value ? Json(rounded(*value)) : Json(); }

/// Gives each text a number at its first use.
class Notes {
 public:
  std::size_t number(const std::string& text) {
    const auto [known, added] = numbers_.try_emplace(text, numbers_.size());
    if (added) texts_.push_back(text);
    return known->second;
  }
  const Json& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json texts_ = Json::array();
};

Json point_json(const ChartPoint& point, Notes& notes) {
  // A date needs all of its digits.
  Json json = Json::array({point.x, rounded(point.y), optional_json(point.low), optional_json(point.high),
                           point.note.empty() ? Json() : Json(notes.number(point.note)),
                           point.label.empty() ? Json() : Json(point.label)});
  while (json.back().is_null()) json.erase(json.size() - 1);
  return json;
}

Json series_json(const Series& series, const SeriesStyle& style) {
  Json points = Json::array();
  Notes notes;
  for (const ChartPoint& point : series.points) points.push_back(point_json(point, notes));
  return {{"label", series.label},          {"group", series.group}, {"family", series.family},
          {"mark", to_string(series.mark)}, {"shown", series.shown}, {"light", style.colour.light},
          {"dark", style.colour.dark},      {"dash", style.dash},    {"line", style.line},
          {"small", style.small},           {"band", style.band},    {"points", std::move(points)},
          {"notes", notes.texts()}};
}

}  // namespace

std::string chart_json(const Chart& chart, const Styles& styles) {
  Json series = Json::array(), lines = Json::array();
  for (const Series& one : chart.series) series.push_back(series_json(one, styles.of(chart, one)));
  for (const ReferenceLine& line : chart.lines)
    lines.push_back({{"label", line.label}, {"at", line.at}, {"vertical", line.vertical}});
  return safe_in_script({{"xTitle", chart.x_title},
                         {"yTitle", chart.y_title},
                         {"log2", chart.x_log2},
                         {"dates", chart.x_dates},
                         {"yLog10", chart.y_log10},
                         {"percent", chart.y_percent},
                         {"yMin", optional_json(chart.y_min)},
                         {"yMax", optional_json(chart.y_max)},
                         {"panels", chart.panels},
                         {"endLabels", chart.end_labels},
                         {"lines", std::move(lines)},
                         {"series", std::move(series)}});
}

}  // namespace hbench
