#include <fmt/format.h>

#include <algorithm>

#include "reports/formats.hpp"
#include "reports/prepare.hpp"
#include "reports/text.hpp"

/// For a terminal: tables with aligned columns and the verdict; charts are only pointed at.

namespace hbench {
namespace {

constexpr std::size_t kLineWidth = 96;

std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t width = text_width(word);
    if (used > 0) out += used + 1 + width > kLineWidth ? '\n' : ' ';
    used = used > 0 && used + 1 + width <= kLineWidth ? used + 1 + width : width;
    out += word;
  }
  return out + '\n';
}

std::string underlined(const std::string& text, char line) {
  return fmt::format("{}\n{}\n", text, std::string(text_width(text), line));
}

struct TextWriter {
  std::string out;

  void operator()(const Heading& heading) { out += '\n' + underlined(heading.text, heading.level == 1 ? '=' : '-'); }
  void operator()(const Paragraph& paragraph) { out += '\n' + wrapped(paragraph.text); }
  void operator()(const Verdict& verdict) { out += '\n' + wrapped("=> " + verdict.text); }
  void operator()(const Chart& chart) {
    out += '\n';
    point_at(chart);
  }

  void operator()(const ChartGroup& group) {
    out += fmt::format("\n{}\n", group.title);
    for (const Chart& chart : group.charts) point_at(chart);
  }

  void operator()(const Table& table) {
    std::vector<std::size_t> widths(table.columns.size());
    const auto widen = [&](const std::vector<std::string>& row) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
    };
    widen(table.columns);
    for (const auto& row : table.rows) widen(row);
    out += '\n';
    if (!table.caption.empty()) out += wrapped(table.caption);
    add_row(table, table.columns, widths);
    std::vector<std::string> rule;
    for (std::size_t width : widths) rule.emplace_back(width, '-');
    add_row(table, rule, widths);
    for (const auto& row : table.rows) add_row(table, row, widths);
  }

 private:
  void add_row(const Table& table, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += (i == 0 ? "" : "  ") + padded(cells[i], widths[i], table.numeric[i]);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }

  void point_at(const Chart& chart) { out += fmt::format("  chart: {} (charts/{}.svg)\n", chart.title, chart.id); }
};

std::string render_text(const Document& given) {
  const Document document = drawable(given);
  TextWriter writer;
  if (!document.title.empty()) writer.out = underlined(document.title, '=');
  for (const Block& block : document.blocks) std::visit(writer, block);
  return writer.out;
}

}  // namespace

constinit const Format kTextFormat{
    .name = "text", .summary = "tables for a terminal", .extension = ".txt", .file = "", .render = render_text};

}  // namespace hbench
