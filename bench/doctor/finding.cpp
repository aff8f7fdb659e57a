#include "bench/doctor/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {

Finding finding_of(std::string what, const Availability& availability, std::string good) {
  return availability.available ? Finding{std::move(what), std::move(good), ""}
                                : Finding{std::move(what), availability.reason, availability.cure};
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const char* const mark = finding.cure.empty() ? "ok" : finding.optional ? "--" : "!!";
    text += fmt::format("{}  {:20} {}\n", mark, finding.what, finding.state);
    if (!finding.cure.empty()) text += fmt::format("    {:20} -> {}\n", "", finding.cure);
  }
  return text;
}

int problems_among(const std::vector<Finding>& findings) {
  return static_cast<int>(
      std::ranges::count_if(findings, [](const Finding& each) { return !each.cure.empty() && !each.optional; }));
}

}  // namespace hbench
