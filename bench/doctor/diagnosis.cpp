#include "bench/doctor/diagnosis.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/prediction/table_json.hpp"

namespace hbench {

Document doctor_document(const std::vector<Finding>& findings, const std::vector<Table>& topology) {
  Document document{.blocks = {findings_table(findings)}};
  document.blocks.insert(document.blocks.end(), topology.begin(), topology.end());
  const int problems = problems_among(findings);
  document.blocks.emplace_back(
      Paragraph{problems == 0 ? "No problems." : fmt::format("{} problem{}.", problems, problems == 1 ? "" : "s")});
  return document;
}

std::string doctor_json(const std::vector<Finding>& findings, const std::vector<Table>& topology) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const Finding& finding : findings) {
    const bool fixable = !finding.cure.empty();
    rows.push_back({{"checked", finding.what},
                    {"found", finding.state},
                    {"fix", fixable ? Json(finding.cure) : Json(nullptr)},
                    {"optional", finding.optional},
                    {"problem", fixable && !finding.optional}});
  }
  Json tables = Json::object();
  for (const Table& table : topology) tables[table.caption] = Json::parse(table_json(table));
  const Json object{{"findings", rows}, {"topology", tables}, {"problems", problems_among(findings)}};
  return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hbench
