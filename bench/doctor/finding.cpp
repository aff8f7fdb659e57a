#include "bench/doctor/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {

Finding finding_of(std::string what, const Availability& availability, std::string good) {
  return availability.available ? Finding{std::move(what), std::move(good), ""}
                                : Finding{std::move(what), availability.reason, availability.cure};
}

Table findings_table(const std::vector<Finding>& findings) {
  Table table{.columns = {"", "checked", "found"}};
  for (const Finding& finding : findings) {
    const char* const mark = finding.cure.empty() ? "ok" : finding.optional ? "--" : "!!";
    table.rows.push_back(
        {mark, finding.what,
         finding.cure.empty() ? finding.state : fmt::format("{} (fix: {})", finding.state, finding.cure)});
  }
  return table;
}

int problems_among(const std::vector<Finding>& findings) {
  return static_cast<int>(
      std::ranges::count_if(findings, [](const Finding& each) { return !each.cure.empty() && !each.optional; }));
}

}  // namespace hbench
