#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "reports/formats.hpp"
#include "reports/prepare.hpp"

/// Long form: every line has the same columns, so that one read_csv suffices. A point of a chart is one
/// line. So is a cell of a table: `chart` is the caption, `series` the column, `mark` is `cell`, `x` the
/// row from 1, `y` its number if it is one, and `note` its text.

namespace hbench {
namespace {

constexpr std::string_view kHeader = "chart,series,mark,x,y,low,high,note\n";

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// A spreadsheet takes text that begins like this for a formula and runs it.
bool looks_like_formula(std::string_view text) {
  const std::size_t start = text.find_first_not_of(' ');
  return start != std::string_view::npos && std::string_view("=+-@|%").find(text[start]) != std::string_view::npos;
}

std::string quoted(std::string_view text) {
  const bool disarm = looks_like_formula(text) && !is_number(text);
  std::string field(disarm ? "'" : "");
  for (char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field.find_first_of(",\";'") == std::string::npos ? field : fmt::format("\"{}\"", field);
}

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

void add_chart(std::string& out, const Chart& chart) {
  for (const Series& series : chart.series)
    for (const ChartPoint& point : series.points) {
      const bool finite = std::isfinite(point.x) && std::isfinite(point.y);
      // Holes stay: whoever computes with the data must see that a point is missing.
      const std::string note = finite ? point.note : point.note + (point.note.empty() ? "" : "; ") + "not finite";
      out += fmt::format("{},{},{},{},{},{},{},{}\n", quoted(chart.id), quoted(series.label), to_string(series.mark),
                         number(point.x), number(point.y), number(point.low), number(point.high), quoted(note));
    }
}

void add_table(std::string& out, const Table& table) {
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const std::string& cell = table.rows[row][column];
      out += fmt::format("{},{},cell,{},{},,,{}\n", quoted(table.caption), quoted(table.columns[column]), row + 1,
                         is_number(cell) ? cell : "", quoted(cell));
    }
}

std::string render_csv(const Document& given) {
  const Document document = readable(given);
  std::string out(kHeader);
  for (const Chart* chart : charts_of(document)) add_chart(out, *chart);
  for (const Block& block : document.blocks)
    if (const auto* table = std::get_if<Table>(&block)) add_table(out, *table);
  return out;
}

}  // namespace

constinit const Format kCsvFormat{.name = "csv",
                                  .summary = "points of all charts and cells of all tables, one a line",
                                  .extension = ".csv",
                                  .file = "data.csv",
                                  .render = render_csv};

}  // namespace hbench
