#include "reports/short_form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/formats/formats.hpp"

namespace hbench {
namespace {

bool is_picture(const Block& block) {
  return std::holds_alternative<Chart>(block) || std::holds_alternative<ChartGroup>(block);
}

/// Cells lose what is longer than anybody reads in a table.
void clip(std::string& cell) {
  constexpr std::size_t kLongest = 120;
  if (cell.size() <= kLongest) return;
  std::size_t end = kLongest;
  while (end > 0 && (cell[end] & 0xC0) == 0x80) --end;  // not within a code point
  cell = cell.substr(0, end) + "...";
}

void shorten(Block& block, std::size_t rows) {
  if (auto* table = std::get_if<Table>(&block)) {
    for (auto& row : table->rows) std::ranges::for_each(row, clip);
    if (table->rows.size() <= rows) return;
    table->caption += fmt::format(" (the first {} of {} rows)", rows, table->rows.size());
    table->rows.resize(rows);
  } else if (auto* warnings = std::get_if<Warnings>(&block); warnings && warnings->texts.size() > rows) {
    const std::size_t rest = warnings->texts.size() - rows;
    warnings->texts.resize(rows);
    warnings->texts.push_back(fmt::format("{} more", rest));
  }
}

std::string rendered(Document document, std::size_t rows, const Format& format) {
  for (Block& block : document.blocks) shorten(block, rows);
  return format.render(document);
}

}  // namespace

std::string render_within(std::size_t most_bytes, const Document& document, const Format& format) {
  Document brief = document;
  std::erase_if(brief.blocks, is_picture);
  std::size_t rows = 64;
  std::string text = rendered(brief, rows, format);
  while (text.size() > most_bytes && rows > 1) text = rendered(brief, rows /= 2, format);
  return text;
}

std::string render_fitting(std::size_t most_bytes, const Document& document, const Format& format) {
  std::string whole = format.render(document);
  return whole.size() <= most_bytes ? whole : render_within(most_bytes, document, format);
}

}  // namespace hbench
