#pragma once

/// Tables for a terminal: the one place that lays them out. Pure.

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/document/document.hpp"

namespace hbench {

/// No limit: nothing is wrapped or left out.
inline constexpr std::size_t kAnyWidth = 0;

/// `text` in lines of at most `width` columns, broken between words; lines after the first begin after `indent` spaces.
/// A word that is longer than a line keeps a line to itself: words are never broken.
std::string wrapped_text(std::string_view text, std::size_t width, std::size_t indent = 0);

/// `table` in lines of at most `width` columns (`kAnyWidth`: as wide as it is), without its caption. \pre clean text.
///
/// What does not fit is made narrower in this order: heads wrap between words; text columns wrap down to a readable
/// width; columns are left out, those with the largest `Table::priority` first and together, and a last line names
/// them; text columns wrap down to their longest word. A table that would still be too wide, or have cells of many
/// lines, becomes a paragraph for each row with a line for each of its cells. Of a table with `Table::first_rows` these
/// are shown, and a last line says how many there are, unless the width is `kAnyWidth`. The first cell of a grouped
/// table stands once above its rows, unless the width is `kAnyWidth`.
std::string text_table(const Table& table, std::size_t width);

}  // namespace hbench
