#include "reports/prediction/table_json.hpp"

#include <nlohmann/json.hpp>

namespace hbench {

std::string table_json(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = row[i];
    rows.push_back(object);
  }
  return rows.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hbench
