#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/formats/chart_table.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/html/assets.hpp"
#include "reports/formats/prepare.hpp"
#include "reports/formats/style.hpp"

/// One file that needs no network: Chart.js, our script and our style sheet are inside. The page is whole
/// without scripts too: each chart has its figures as a table.

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// JSON for a script element: nothing in it can end the element or start a comment there.
std::string script_json(const Json& json) {
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

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json series_json(const Series& series, const SeriesStyle& style) {
  Json points = Json::array();
  for (const ChartPoint& point : series.points)
    points.push_back({{"x", point.x},
                      {"y", point.y},
                      {"low", optional_json(point.low)},
                      {"high", optional_json(point.high)},
                      {"note", point.note}});
  return {{"label", series.label},     {"mark", to_string(series.mark)},
          {"shown", series.shown},     {"light", style.colour.light},
          {"dark", style.colour.dark}, {"dash", style.dash},
          {"line", style.line},        {"small", style.small},
          {"band", style.band},        {"points", points}};
}

Json chart_json(const Chart& chart, const Styles& styles) {
  Json series = Json::array();
  for (const Series& one : chart.series) series.push_back(series_json(one, styles.of(chart, one)));
  return {{"xTitle", chart.x_title},
          {"yTitle", chart.y_title},
          {"log2", chart.x_log2},
          {"yLog10", chart.y_log10},
          {"percent", chart.y_percent},
          {"yMin", optional_json(chart.y_min)},
          {"yMax", optional_json(chart.y_max)},
          {"series", series}};
}

class HtmlWriter {
 public:
  explicit HtmlWriter(const Document& document) : styles_(charts_of(document)) {
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

  void operator()(const Warnings& warnings) {
    if (warnings.texts.empty()) return;
    out_ += fmt::format("<details class=\"warnings\"{}><summary>Warnings ({})</summary>\n<ul>\n",
                        warnings.texts.size() > kUnfoldedWarnings ? "" : " open", warnings.texts.size());
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
        "<figure class=\"chart\" id=\"chart-{0}\">\n<h3>{1}</h3>\n<div class=\"plot\">"
        "<div class=\"canvas\"><canvas role=\"img\" aria-label=\"{1}: {2} over {3}, {4} series; the table below has "
        "its figures\"></canvas></div><ul class=\"legend\" aria-label=\"Series; press to show or hide\"></ul></div>\n",
        chart.id, title, escaped(chart.y_title), escaped(chart.x_title), chart.series.size());
    out_ += fmt::format("<script type=\"application/json\">{}</script>\n", script_json(chart_json(chart, styles_)));
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
    out_ += fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n<thead>",
                        escaped(table.caption));
    add_row(table, table.columns, "th scope=\"col\"", "th");
    out_ += "</thead>\n<tbody>\n";
    for (const auto& row : table.rows) add_row(table, row, "td", "td");
    out_ += "</tbody>\n</table>\n</div>\n";
  }

  void add_row(const Table& table, const std::vector<std::string>& cells, std::string_view open,
               std::string_view close) {
    out_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      out_ += fmt::format("<{}{}>{}</{}>", open, table.numeric[i] ? " class=\"number\"" : "", escaped(cells[i]), close);
    out_ += "</tr>\n";
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
  const Document document = drawable(given);
  std::string out(kHead);
  out += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n", escaped(document.title),
                     kReportCss);
  out += fmt::format("<h1>{}</h1>\n{}</main>\n", escaped(document.title), HtmlWriter(document).body());
  if (!charts_of(document).empty())
    out += fmt::format("<script>{}</script>\n<script>\n{}</script>\n", kChartJs, kReportJs);
  return out + "</body>\n</html>\n";
}

}  // namespace

constinit const Format kHtmlFormat{.name = "html",
                                   .summary = "one self-contained page with interactive charts",
                                   .extension = ".html",
                                   .file = "index.html",
                                   .render = render_html};

}  // namespace hbench
