#include "reports/document/document.hpp"

#include <algorithm>

namespace hbench {

std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> titles;
  for (const TableColumn& column : table.columns) titles.push_back(column.title);
  return titles;
}

void erase_column(Table& table, std::string_view column) {
  const auto found = std::ranges::find(table.columns, column, &TableColumn::title);
  if (found == table.columns.end()) return;
  const auto at = found - table.columns.begin();
  table.columns.erase(found);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

void erase_if_empty(Table& table, std::string_view column) {
  const auto at =
      static_cast<std::size_t>(std::ranges::find(table.columns, column, &TableColumn::title) - table.columns.begin());
  if (std::ranges::all_of(table.rows, [at](const auto& row) { return row[at].empty() || row[at] == "-"; }))
    erase_column(table, column);
}

}  // namespace hbench
