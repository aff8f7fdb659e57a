#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/formats/html/assets.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/formats/prepare.hpp"
#include "reports/formats/style.hpp"

/// One file that needs no network: Chart.js, our script and our style sheet are inside. The page is whole
/// without scripts too: each chart has its figures as a table; only filters and sorting are the script's.

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

/// What `report.js` draws, safe inside a script element: nothing in it can end the element or start a comment there.
/// A point is `[x, y, low, high, index into the series' notes, label]`; what is empty at its end is left out.
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

std::string escaped(std::string_view text) { return escaped_markup(text, true); }

class HtmlWriter {
 public:
  explicit HtmlWriter(const Document& document) : styles_(charts_of(document)) {
    for (const Block& block : document.blocks)
      if (const auto* table = std::get_if<Table>(&block)) styles_.add_tints(*table);
    for (const Block& block : document.blocks) std::visit(*this, block);
  }

  const std::string& body() const { return out_; }

  void operator()(const Heading& heading) {
    const int level = std::clamp(heading.level, 1, 3) + 1;  // the document's title is the only h1
    out_ += fmt::format("<h{0}>{1}</h{0}>\n", level, escaped(heading.text));
  }
  void operator()(const Paragraph& paragraph) { out_ += fmt::format("<p>{}</p>\n", escaped(paragraph.text)); }
  void operator()(const Verdict& verdict) {
    out_ += fmt::format("<p class=\"verdict\">{}</p>\n", escaped(verdict.text));
  }

  /// Several are one line until they are opened: the first chart is to be on the first screen.
  void operator()(const Warnings& warnings) {
    if (warnings.texts.empty()) return;
    out_ += fmt::format("<details class=\"warnings\"{}><summary>Warnings ({})</summary>\n<ul>\n",
                        warnings.texts.size() > 1 ? "" : " open", warnings.texts.size());
    for (const std::string& text : warnings.texts) out_ += fmt::format("<li>{}</li>\n", escaped(text));
    out_ += "</ul>\n</details>\n";
  }

  void operator()(const Table& table) {
    if (table.folded) {
      add_folded(table, table.caption);
      return;
    }
    if (!table.caption.empty()) out_ += fmt::format("<p class=\"caption\">{}</p>\n", escaped(table.caption));
    add_table(table);
  }

  void operator()(const Chart& chart) { add_chart(chart); }

  void operator()(const ChartGroup& group) {
    const std::string label = escaped(group.title);
    out_ += fmt::format("<section class=\"group\" aria-label=\"{0}\">\n<h2>{0}</h2>\n", label);
    if (group.charts.size() > 1) add_tabs(group, label);
    for (const Chart& chart : group.charts) add_chart(chart);
    out_ += "</section>\n";
  }

  /// A picture of boxes, the same in light and dark, by the colour of the text.
  void operator()(const Lanes& lanes) {
    constexpr int kColumn = 9, kRow = 26, kNames = 80;  // pixels
    int columns = 0;
    for (const Lanes::Row& row : lanes.rows)
      for (const Lanes::Box& box : row.boxes) columns = std::max(columns, box.end);
    const int width = kNames + kColumn * columns, height = kRow * static_cast<int>(lanes.rows.size());
    out_ += fmt::format(
        "<figure class=\"lanes\">\n<h3>{0}</h3>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
        "aria-label=\"{0}\">\n<svg role=\"img\" aria-label=\"{0}\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} "
        "{2}\">\n",
        escaped(lanes.title), width, height);
    int y = 0;
    for (const Lanes::Row& row : lanes.rows) {
      const int middle = y + kRow / 2;
      out_ += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", middle, escaped(row.name));
      for (const Lanes::Box& box : row.boxes) {
        const int x = kNames + kColumn * box.begin, size = kColumn * (box.end - box.begin);
        out_ += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"/><text class=\"box\" x=\"{}\" "
            "y=\"{}\">{}</text>\n",
            x + 1, y + 2, size - 2, kRow - 4, x + size / 2, middle, escaped(box.text));
      }
      y += kRow;
    }
    out_ += "</svg>\n</div>\n";
    std::string notes;
    for (const std::string& note : lanes.notes) notes += (notes.empty() ? "" : " ") + escaped(note);
    if (!notes.empty()) out_ += fmt::format("<figcaption>{}</figcaption>\n", notes);
    out_ += "</figure>\n";
  }

 private:
  /// Shown by the script alone: without it all charts of the group are visible, one below the other.
  void add_tabs(const ChartGroup& group, const std::string& label) {
    out_ += fmt::format("<div class=\"tabs\" role=\"tablist\" aria-label=\"{}\" hidden>\n", label);
    for (const Chart& chart : group.charts)
      out_ +=
          fmt::format("<button type=\"button\" role=\"tab\" id=\"tab-{0}\" aria-controls=\"chart-{0}\">{1}</button>\n",
                      chart.id, escaped(chart.title));
    out_ += "</div>\n";
  }

  void add_chart(const Chart& chart) {
    const std::string title = escaped(chart.title);
    out_ += fmt::format(
        "<figure class=\"chart\" id=\"chart-{0}\">\n<h3>{1}</h3>\n<div class=\"plot\" aria-label=\"{1}: {2} over {3}, "
        "{4} "
        "series; the table below has its figures\"></div>\n",
        chart.id, title, escaped(chart.y_title), escaped(chart.x_title), chart.series.size());
    out_ += fmt::format("<script type=\"application/json\">{}</script>\n", chart_json(chart, styles_));
    if (!chart.caption.empty()) out_ += fmt::format("<figcaption>{}</figcaption>\n", escaped(chart.caption));
    const Table figures = chart_table(chart);
    add_folded(figures, "Figures: " + figures.caption);
    out_ += "</figure>\n";
  }

  void add_folded(const Table& table, const std::string& summary) {
    out_ += fmt::format("<details><summary>{}</summary>\n", escaped(summary));
    add_table(table);
    out_ += "</details>\n";
  }

  void add_table(const Table& table) {
    out_ += fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table{}>\n<thead>",
                        escaped(table.caption), table.tints.empty() ? "" : " class=\"map\"");
    add_row(table, titles_of(table), "th scope=\"col\"", {});
    out_ += "</thead>\n";
    if (!table.grouped) out_ += "<tbody>\n";
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto& cells = table.rows[row];
      if (table.grouped && (row == 0 || cells[0] != table.rows[row - 1][0]))
        out_ += fmt::format("{}<tbody>\n<tr class=\"group\"><th colspan=\"{}\" scope=\"rowgroup\">{}</th></tr>\n",
                            row == 0 ? "" : "</tbody>\n", cells.size() - 1, escaped(cells[0]));
      add_row(table, cells, "td", row < table.tints.size() ? table.tints[row] : std::vector<Tint>());
    }
    out_ += "</tbody>\n</table>\n</div>\n";
  }

  /// The first cell of a grouped table stands above its rows.
  void add_row(const Table& table, const std::vector<std::string>& cells, std::string_view open,
               const std::vector<Tint>& tints) {
    out_ += "<tr>";
    for (std::size_t i = table.grouped ? 1 : 0; i < cells.size(); ++i) {
      const Tint tint = i < tints.size() ? tints[i] : Tint();
      const std::string& text = tint.label.empty() ? cells[i] : tint.label;
      out_ += fmt::format("<{}{}{}>{}</{}>", open, class_of(table.columns[i].numeric, text), style_of(tint),
                          escaped(text), open.substr(0, 2));
    }
    out_ += "</tr>\n";
  }

  /// Short texts stay on one line.
  static std::string_view class_of(bool numeric, const std::string& cell) {
    constexpr std::size_t kLong = 96;
    if (numeric) return " class=\"number\"";
    return text_width(cell) > kLong ? " class=\"long\"" : "";
  }

  /// The colour, the clearer the less transparent, so that text on it stays readable.
  std::string style_of(const Tint& tint) const {
    if (tint.group.empty() || !(tint.strength > 0)) return {};
    const Colour colour = styles_.colour_of(tint.group);
    const int opacity = static_cast<int>(std::lround(35 + 125 * std::min(1.0, tint.strength)));
    return fmt::format(" style=\"--light: {0}{2:02x}; --dark: {1}{2:02x}\"", colour.light, colour.dark, opacity);
  }

  Styles styles_;
  std::string out_;
};

/// The policy forbids every request, so that even a hole in our escaping could not send anything out.
constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

std::string render_html(const Document& given) {
  const Document document = thinned(drawable(given));
  std::string out(kHead);
  out += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n", escaped(document.title),
                     kReportCss);
  out += fmt::format("<h1>{}</h1>\n{}</main>\n", escaped(document.title), HtmlWriter(document).body());
  if (!charts_of(document).empty()) out += fmt::format("<script>{}</script>\n", kChartJs);
  return out + fmt::format("<script>\n{}</script>\n</body>\n</html>\n", kReportJs);
}

}  // namespace

constinit const Format kHtmlFormat{.name = "html",
                                   .summary = "one self-contained page with interactive charts",
                                   .extension = ".html",
                                   .file = "index.html",
                                   .render = render_html};

}  // namespace hbench
