// Long form: every line has the same columns, so that one read_csv suffices. A point of a chart is one
// line; so is a reference line (`mark` = `line`), at an x or a y, and a caption, in `note`. So is a cell of a table:
// `chart` is the caption, `series` the column, `mark` is `cell`, `x` the row from 1, `y` its number if it is one, and
// `note` its text. A warning has its text in `note` (`mark` = `warning`).

#include "reports/formats/formats.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/text.hpp"
#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

bool looks_like_formula(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && std::string_view("=+-@|%").find(text[start]) != std::string_view::npos;
}

constexpr std::string_view kHeader = "chart,series,mark,x,y,low,high,note\n";

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

void add_chart(std::string& out, const Chart& chart) {
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points) {
      const bool finite = std::isfinite(point.x) && std::isfinite(point.y);
      // Holes stay: whoever computes with the data must see that a point is missing.
      std::string note = point.label;
      for (const std::string& part : {point.note, std::string(finite ? "" : "not finite")})
        if (!part.empty()) note += (note.empty() ? "" : "; ") + part;
      out +=
          fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(chart.id), csv_field(series.label), to_string(series.mark),
                      number(point.x), number(point.y), number(point.low), number(point.high), csv_field(note));
    }
  if (!chart.caption.empty()) out += fmt::format("{},,caption,,,,,{}\n", csv_field(chart.id), csv_field(chart.caption));
  for (const ReferenceLine& line : chart.lines)
    out += fmt::format("{},{},line,{},{},,,\n", csv_field(chart.id), csv_field(line.label),
                       line.vertical ? number(line.at) : "", line.vertical ? "" : number(line.at));
}

void add_table(std::string& out, const Table& table) {
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const std::string& cell = table.rows[row][column];
      out += fmt::format("{},{},cell,{},{},,,{}\n", csv_field(table.caption), csv_field(table.columns[column].title),
                         row + 1, is_number(cell) ? cell : "", csv_field(cell));
    }
}

void add_warnings(std::string& out, const Warnings& warnings) {
  for (const std::string& text : warnings.texts) out += fmt::format(",,warning,,,,,{}\n", csv_field(text));
}

std::string render_csv(const Document& given) {
  const Document document = thinned(readable(given));
  std::string out(kHeader);
  for (const Chart* chart : charts_of(document)) add_chart(out, *chart);
  for (const Block& block : document.blocks)
    if (const auto* table = std::get_if<Table>(&block)) {
      add_table(out, *table);
    } else if (const auto* warnings = std::get_if<Warnings>(&block)) {
      add_warnings(out, *warnings);
    }
  return out;
}

}  // namespace

bool is_number(std::string_view text) {
  const std::optional<double> value = parse_number<double>(text);
  return value && std::isfinite(*value);
}

std::string csv_field(std::string_view text) {
  std::string field(looks_like_formula(text) && !is_number(text) ? "'" : "");
  for (char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field.find_first_of(",\";'\r\n") == std::string::npos ? field : fmt::format("\"{}\"", field);
}

constinit const Format kCsvFormat{.name = "csv",
                                  .summary = "points of all charts and cells of all tables, one a line",
                                  .extension = ".csv",
                                  .file = "data.csv",
                                  .render = render_csv};

}  // namespace hbench
