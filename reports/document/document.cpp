#include "reports/document/document.hpp"

#include <algorithm>

namespace hbench {

void erase_column(Table& table, std::string_view column) {
  const auto at = std::ranges::find(table.columns, column) - table.columns.begin();
  table.columns.erase(table.columns.begin() + at);
  table.numeric.erase(table.numeric.begin() + at);
  if (!table.priority.empty()) table.priority.erase(table.priority.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

void erase_if_empty(Table& table, std::string_view column) {
  const auto at = static_cast<std::size_t>(std::ranges::find(table.columns, column) - table.columns.begin());
  if (std::ranges::all_of(table.rows, [at](const auto& row) { return row[at].empty() || row[at] == "-"; }))
    erase_column(table, column);
}

}  // namespace hbench
