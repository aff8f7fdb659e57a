#include "bench/doctor/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {

Finding finding_of(std::string what, const Availability& availability, std::string good) {
  return availability.available ? Finding{std::move(what), std::move(good), ""}
                                : Finding{std::move(what), availability.reason, availability.cure};
}

Finding finding_of_losses(std::uint64_t once, std::uint64_t again) {
  if (once == again) return {"training", fmt::format("twice the same bits of losses ({:016x})", once), ""};
  return {"training", fmt::format("the same training ends with other losses ({:016x}, then {:016x})", once, again),
          "a processor or its memory computes wrongly: leave this machine out"};
}

Severity severity_of(const Finding& finding) {
  return finding.cure.empty() ? Severity::pass : finding.optional ? Severity::note : Severity::error;
}

Table findings_table(const std::vector<Finding>& findings) {
  Table table{.columns = {"", "checked", "found"}};
  for (const Finding& finding : findings) {
    table.rows.push_back(
        {std::string(to_string(severity_of(finding))), finding.what,
         finding.cure.empty() ? finding.state : fmt::format("{} (fix: {})", finding.state, finding.cure)});
  }
  return table;
}

int problems_among(const std::vector<Finding>& findings) {
  return static_cast<int>(std::ranges::count(findings, Severity::error, severity_of));
}

Document doctor_document(const std::vector<Finding>& findings, const std::vector<Table>& topology) {
  Document document{.blocks = {findings_table(findings)}};
  document.blocks.insert(document.blocks.end(), topology.begin(), topology.end());
  const int problems = problems_among(findings);
  document.blocks.emplace_back(
      Paragraph{problems == 0 ? "No problems." : fmt::format("{} problem{}.", problems, problems == 1 ? "" : "s")});
  return document;
}

std::string doctor_json(const std::vector<Finding>& findings, const std::vector<Table>& topology, Form form) {
  return object_text(form, "hbench doctor --json", findings, [&](Row& row, const std::vector<Finding>&) {
    row.rows("findings", findings, [](Row& of, const Finding& finding) {
      of.field("checked", finding.what);
      of.field("found", finding.state);
      of.field("fix", if_stated(finding.cure));
      of.field("optional", finding.optional, "whether people may do without");
      of.field("problem", severity_of(finding) == Severity::error);
    });
    Json tables = Json::object();
    for (const Table& table : topology) tables[table.caption] = table_json(form, table);
    if (form == Form::schema) tables = {{"type", "object"}, {"additionalProperties", table_json(form, {})}};
    row.put("topology", std::move(tables), "tables by their titles");
    row.field("problems", problems_among(findings), "that need a fix");
  });
}

}  // namespace hbench
