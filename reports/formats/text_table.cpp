// For a terminal: tables with aligned columns and the verdict; charts are only pointed at.

#include "reports/formats/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>
#include <vector>

#include "reports/formats/formats.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

constexpr std::size_t kGap = 2;
/// Narrower columns of sentences are hard to read.
constexpr std::size_t kReadable = 24;
/// Cells of more lines read better as paragraphs.
constexpr std::size_t kMostLines = 5;

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && width != kAnyWidth && text_width(line) + 1 + text_width(word) > width) {
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  lines.push_back(std::move(line));
  return lines;
}

std::size_t longest_word(std::string_view text) {
  const std::vector<std::string> words = lines_of(text, 1);
  return std::ranges::max(words | std::views::transform([](const std::string& word) { return text_width(word); }));
}

/// One column of a table on its way to a width that fits.
struct Column {
  std::size_t index = 0;  ///< in the table
  int priority = 0;
  bool wraps = false;     ///< its cells are text
  std::size_t least = 0;  ///< the longest word of head and cells, or the widest number
  std::size_t width = 0;
};

Column column_of(const Table& table, std::size_t index) {
  const TableColumn& shown = table.columns[index];
  Column column{.index = index,
                .priority = shown.priority,
                .wraps = !shown.numeric,
                .least = longest_word(shown.title),
                .width = text_width(shown.title)};
  for (const auto& row : table.rows) {
    column.width = std::max(column.width, text_width(row[index]));
    column.least = std::max(column.least, column.wraps ? longest_word(row[index]) : text_width(row[index]));
  }
  return column;
}

class Layout {
 public:
  Layout(const Table& table, std::size_t width) : table_(table), width_(width) {
    for (std::size_t index = groups() ? 1 : 0; index < table.columns.size(); ++index)
      columns_.push_back(column_of(table, index));
    if (width_ == kAnyWidth) return;
    // What is left out makes room for the others: their heads need not wrap where they fit now.
    for (const std::vector<Column> widest = columns_;; restore(widest)) {
      wrap_heads();
      wrap_cells(kReadable);
      if (fits() || !leave_out()) break;
    }
    wrap_cells(0);
  }

  bool readable() const {
    if (!fits()) return false;
    return std::ranges::all_of(table_.rows, [&](const auto& row) {
      return std::ranges::all_of(columns_, [&](const Column& column) {
        return lines_of(row[column.index], limit_of(column)).size() <= kMostLines;
      });
    });
  }

  std::string text() const {
    std::string out = row_text(titles_of(table_), true);
    std::vector<std::string> rule(table_.columns.size());
    for (const Column& column : columns_) rule[column.index] = std::string(column.width, '-');
    out += row_text(rule);
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      const std::vector<std::string>& cells = table_.rows[row];
      if (groups() && (row == 0 || cells.front() != table_.rows[row - 1].front())) out += cells.front() + '\n';
      out += row_text(cells);
    }
    if (!left_out_.empty())
      out += wrapped_text(fmt::format("(not shown in {} columns: {}; --wide shows all)", width_, names_left_out()),
                          width_) +
             '\n';
    return out;
  }

 private:
  /// Whether the first column stands above its rows. Where lines may be of any width each is complete: `grep` finds it.
  bool groups() const { return table_.grouped && width_ != kAnyWidth; }
  /// As little as tells a row from its head: most tables of a terminal fill its 80 columns.
  std::size_t indent() const { return groups() ? 1 : 0; }

  void restore(const std::vector<Column>& widest) {
    for (Column& column : columns_) column.width = std::ranges::find(widest, column.index, &Column::index)->width;
  }

  /// The last ones went because they are wanted most.
  std::string names_left_out() const {
    constexpr std::size_t kNamed = 4;
    const std::size_t named = std::min(left_out_.size(), kNamed), others = left_out_.size() - named;
    return fmt::format("{}{}", fmt::join(left_out_.end() - static_cast<std::ptrdiff_t>(named), left_out_.end(), ", "),
                       others > 0 ? fmt::format(" and {} more", others) : "");
  }

  std::size_t total() const {
    const std::size_t gaps = indent() + (columns_.size() - 1) * kGap;
    return std::transform_reduce(columns_.begin(), columns_.end(), gaps, std::plus<>(),
                                 [](const Column& column) { return column.width; });
  }
  bool fits() const { return width_ == kAnyWidth || columns_.empty() || total() <= width_; }

  /// Numbers are not wrapped, only their heads are.
  std::size_t limit_of(const Column& column) const { return column.wraps ? column.width : kAnyWidth; }

  /// Heads that are wider than their cells give way, the widest first.
  void wrap_heads() {
    narrow([&](const Column& column) {
      std::size_t widest = longest_word(table_.columns[column.index].title);
      for (const auto& row : table_.rows) widest = std::max(widest, text_width(row[column.index]));
      return widest;
    });
  }

  void wrap_cells(std::size_t readable) {
    narrow([&](const Column& column) { return column.wraps ? std::max(column.least, readable) : column.width; });
  }

  /// Takes a column's width from the widest that may give it, until all fit or none can give more.
  template <class Floor>
  void narrow(Floor floor_of) {
    std::vector<std::size_t> floors;
    for (const Column& column : columns_) floors.push_back(floor_of(column));
    while (!fits()) {
      std::size_t widest = columns_.size();
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].width > floors[i] && (widest == columns_.size() || columns_[i].width > columns_[widest].width))
          widest = i;
      if (widest == columns_.size()) return;
      --columns_[widest].width;
    }
  }

  bool leave_out() {
    const auto least = std::ranges::max_element(columns_, {}, &Column::priority);
    if (least == columns_.end() || least->priority == 0) return false;
    std::erase_if(columns_, [&, priority = least->priority](const Column& column) {
      if (column.priority == priority) left_out_.push_back(table_.columns[column.index].title);
      return column.priority == priority;
    });
    return true;
  }

  /// As many lines as the cell with the most has.
  std::string row_text(const std::vector<std::string>& cells, bool head = false) const {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (const Column& column : columns_) {
      lines.push_back(lines_of(cells[column.index], head ? column.width : limit_of(column)));
      height = std::max(height, lines.back().size());
    }
    std::string out;
    for (std::size_t line = 0; line < height; ++line) {
      std::string row;
      for (std::size_t i = 0; i < columns_.size(); ++i)
        row += std::string(i == 0 ? indent() : kGap, ' ') +
               padded(line < lines[i].size() ? lines[i][line] : "", columns_[i].width, !columns_[i].wraps);
      out += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
    }
    return out;
  }

  const Table& table_;
  std::size_t width_;
  std::vector<Column> columns_;
  std::vector<std::string> left_out_;  ///< names of columns
};

/// The first cell of each row, and under it a line for each other that is not empty.
std::string paragraphs(const Table& table, std::size_t width) {
  std::size_t label = 0;
  for (std::size_t column = 1; column < table.columns.size(); ++column)
    label = std::max(label, text_width(table.columns[column].title));
  std::string out;
  for (const auto& row : table.rows) {
    out += (out.empty() ? "" : "\n") + row.front() + '\n';
    for (std::size_t column = 1; column < row.size(); ++column) {
      if (row[column].empty()) continue;
      out += std::string(kGap, ' ') + padded(table.columns[column].title, label, false) + std::string(kGap, ' ');
      out += wrapped_text(row[column], width, label + 2 * kGap) + '\n';
    }
  }
  return out;
}

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

std::string wrapped_text(std::string_view text, std::size_t width, std::size_t indent) {
  const std::size_t room = width == kAnyWidth ? kAnyWidth : width > indent ? width - indent : 1;
  std::string out;
  for (const std::string& line : lines_of(text, room)) {
    if (!out.empty()) out.append(1, '\n').append(indent, ' ');
    out += line;
  }
  return out;
}

std::string text_table(const Table& table, std::size_t width) {
  const std::size_t rows = table.rows.size();
  if (width != kAnyWidth && table.first_rows > 0 && rows > table.first_rows) {
    Table first = table;
    first.rows.resize(table.first_rows);
    return text_table(first, width) + fmt::format("({} of {}; --wide shows all)\n", table.first_rows, rows);
  }
  const Layout layout(table, width);
  return layout.readable() ? layout.text() : paragraphs(table, width);
}

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
