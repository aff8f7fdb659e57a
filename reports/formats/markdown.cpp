#include <fmt/format.h>

#include <algorithm>

#include "reports/formats/formats.hpp"
#include "reports/formats/prepare.hpp"

/// GitHub's Markdown, for pull requests. Charts are the PNG files beside it, with their figures folded below.

namespace hbench {
namespace {

/// GitHub and GitLab notify people of `@name`, and mention the comment in issue `#1`, though `@` and `#` be escaped.
bool begins_reference(char c, char next) {
  const bool digit = next >= '0' && next <= '9';
  const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
  return (c == '@' && (digit || letter)) || (c == '#' && digit);
}

/// Text as it is, whatever it looks like. HTML is escaped as entities, the rest with backslashes; references are broken
/// by a space without width.
std::string escaped_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos) out += '\\';
      out += c;
      if (i + 1 < text.size() && begins_reference(c, text[i + 1])) out += "&#8203;";
    }
  }
  return out;
}

/// `escaped_text()`, and what makes a heading, list, rule, indented code or GitLab's quick action at the start of a
/// line made plain.
std::string paragraph(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
  std::string out = escaped_text(text.substr(start));
  const std::size_t digits = out.find_first_not_of("0123456789");
  if (digits == std::string::npos || digits > 9) return out;
  const bool list = digits > 0 && (out[digits] == '.' || out[digits] == ')');
  const bool block = digits == 0 && std::string_view("#+-=/").find(out[0]) != std::string_view::npos;
  return list || block ? fmt::format("{}\\{}", out.substr(0, digits), out.substr(digits)) : out;
}

/// Inside `<summary>`, where Markdown is not read.
std::string html_escaped(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

struct MarkdownWriter {
  std::string out;

  void operator()(const Heading& heading) {
    const int level = std::clamp(heading.level, 1, 3) + 1;  // the document's title is the only #
    out += fmt::format("\n{} {}\n", std::string(static_cast<std::size_t>(level), '#'), escaped_text(heading.text));
  }
  void operator()(const Paragraph& text) { out += fmt::format("\n{}\n", paragraph(text.text)); }
  void operator()(const Verdict& verdict) { out += fmt::format("\n> **{}**\n", escaped_text(verdict.text)); }

  void operator()(const Warnings& warnings) {
    if (warnings.texts.empty()) return;
    const bool folded = warnings.texts.size() > kUnfoldedWarnings;
    const std::string title = fmt::format("Warnings ({})", warnings.texts.size());
    out += folded ? fmt::format("\n<details><summary>{}</summary>\n\n", title) : fmt::format("\n**{}**\n\n", title);
    for (const std::string& text : warnings.texts) out += fmt::format("- {}\n", paragraph(text));
    if (folded) out += "\n</details>\n";
  }

  void operator()(const Table& table) {
    out += '\n';
    if (table.folded) out += fmt::format("<details><summary>{}</summary>\n\n", html_escaped(table.caption));
    if (!table.folded && !table.caption.empty()) out += fmt::format("{}\n\n", paragraph(table.caption));
    add_table(table);
    if (table.folded) out += "\n</details>\n";
  }

  void operator()(const Chart& chart) {
    out += fmt::format("\n### {}\n\n![{}](charts/{}.png)\n", escaped_text(chart.title), escaped_text(chart.title),
                       chart.id);
    if (!chart.caption.empty()) out += fmt::format("\n{}\n", paragraph(chart.caption));
    Table figures = chart_table(chart);
    figures.folded = true;
    (*this)(figures);
  }

  void operator()(const ChartGroup& group) {
    out += fmt::format("\n## {}\n", escaped_text(group.title));
    for (const Chart& chart : group.charts) (*this)(chart);
  }

  /// As code, whose spaces stay; a fence in a text would end it.
  void operator()(const Lanes& lanes) {
    std::string text = to_text(lanes);
    std::ranges::replace(text, '`', '\'');
    out += fmt::format("\n{}\n\n```text\n{}```\n", paragraph(lanes.title), text);
  }

 private:
  void add_row(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out += fmt::format("| {} ", escaped_text(cell));
    out += "|\n";
  }

  void add_table(const Table& table) {
    add_row(titles_of(table));
    for (const TableColumn& column : table.columns) out += column.numeric ? "|---:" : "|---";
    out += "|\n";
    for (const auto& row : table.rows) add_row(row);
  }
};

std::string render_markdown(const Document& given) {
  const Document document = thinned(drawable(given));
  MarkdownWriter writer;
  if (!document.title.empty()) writer.out = fmt::format("# {}\n", escaped_text(document.title));
  for (const Block& block : document.blocks) std::visit(writer, block);
  // A document without a title is a part of somebody else's.
  return document.title.empty() && writer.out.starts_with('\n') ? writer.out.substr(1) : writer.out;
}

}  // namespace

constinit const Format kMarkdownFormat{.name = "markdown",
                                       .summary = "for a pull request or a wiki",
                                       .extension = ".md",
                                       .file = "report.md",
                                       .render = render_markdown};

}  // namespace hbench
