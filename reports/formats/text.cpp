#include <fmt/format.h>

#include "reports/formats/formats.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/formats/prepare.hpp"
#include "reports/formats/text_table.hpp"

/// For a terminal: tables with aligned columns and the verdict; charts are only pointed at.

namespace hbench {
namespace {

std::string underlined(const std::string& text, char line) {
  return fmt::format("{}\n{}\n", text, std::string(text_width(text), line));
}

struct TextWriter {
  std::size_t width;  ///< of all lines; `kAnyWidth`: a sentence is one line, so that a log can be searched for it
  std::string out{};
  std::string left_out{};  ///< by the table before

  void operator()(const Heading& heading) { out += '\n' + underlined(heading.text, heading.level == 1 ? '=' : '-'); }
  void operator()(const Paragraph& paragraph) { add_text(paragraph.text); }
  void operator()(const Verdict& verdict) { add_text("=> " + verdict.text); }
  void operator()(const Warnings& warnings) {
    if (!warnings.texts.empty()) out += '\n';
    for (const std::string& text : warnings.texts) out += wrapped("warning: " + text);
  }
  void operator()(const Chart& chart) {
    out += '\n';
    point_at(chart);
  }

  void operator()(const ChartGroup& group) {
    out += fmt::format("\n{}\n", group.title);
    for (const Chart& chart : group.charts) point_at(chart);
  }

  void operator()(const Lanes& lanes) { out += fmt::format("\n{}\n{}", wrapped(lanes.title), to_text(lanes)); }

  void operator()(const Table& table) {
    out += '\n';
    if (!table.caption.empty()) out += wrapped(table.caption);
    std::string text = text_table(table, width);
    // Tables of like columns leave out the same ones.
    const std::size_t note = text.rfind("\n(not shown in ");
    const std::string columns = note == text.npos ? "" : text.substr(note + 1);
    if (!columns.empty() && columns == left_out) text.resize(note + 1);
    left_out = columns;
    out += text;
  }

 private:
  std::string wrapped(std::string_view text) const { return wrapped_text(text, width) + '\n'; }
  void add_text(std::string_view text) { out += '\n' + wrapped(text); }
  void point_at(const Chart& chart) { out += fmt::format("  chart: {} (charts/{}.svg)\n", chart.title, chart.id); }
};

std::string render_text(const Document& document) { return text_of(document, kAnyWidth); }

}  // namespace

std::string text_of(const Document& given, std::size_t width) {
  const Document document = drawable(given);
  TextWriter writer{.width = width};
  if (!document.title.empty()) writer.out = underlined(document.title, '=');
  for (const Block& block : document.blocks) std::visit(writer, block);
  // What stands first needs no line above it.
  return writer.out.substr(document.title.empty() && writer.out.starts_with('\n') ? 1 : 0);
}

constinit const Format kTextFormat{
    .name = "text", .summary = "tables for a terminal", .extension = ".txt", .file = "", .render = render_text};

}  // namespace hbench
