#include "bench/records.hpp"

#include <algorithm>

#include "reports/formats.hpp"
#include "reports/text.hpp"

namespace hbench {
namespace {

constexpr std::size_t kGap = 2;

std::size_t width_of(const Table& table) {
  std::size_t width = 0;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t widest = text_width(table.columns[column]);
    for (const auto& row : table.rows) widest = std::max(widest, text_width(row[column]));
    width += widest + kGap;
  }
  return width - std::min(width, kGap);
}

/// Words in lines up to `kWidestTable`; all but the first begin after `indent`, where the first is already.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t used = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const bool first = used == indent;
    if (!first && used + 1 + text_width(word) > kWidestTable) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!first) {
      out += ' ';
      ++used;
    }
    out += word;
    used += text_width(word);
  }
  return out;
}

std::string records(const Table& table) {
  std::size_t label = 0;
  for (std::size_t column = 1; column < table.columns.size(); ++column)
    label = std::max(label, text_width(table.columns[column]));
  std::string out = table.caption.empty() ? "" : '\n' + wrapped(table.caption, 0) + '\n';
  for (const auto& row : table.rows) {
    out += '\n' + row.front() + '\n';
    for (std::size_t column = 1; column < row.size(); ++column) {
      if (row[column].empty()) continue;
      out += std::string(kGap, ' ') + padded(table.columns[column], label, false) + std::string(kGap, ' ');
      out += wrapped(row[column], label + 2 * kGap) + '\n';
    }
  }
  return out;
}

}  // namespace

std::string terminal_text(const Table& table) {
  return width_of(table) <= kWidestTable ? kTextFormat.render({.blocks = {table}}) : records(table);
}

}  // namespace hbench
