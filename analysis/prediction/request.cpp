#include "analysis/prediction/request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/parse_number.hpp"

namespace hbench {

bool only_presets(const PredictionRequest& request) { return !request.presets.empty() && request.algorithms.empty(); }

ServerChoice parse_servers(std::string_view text) {
  ServerChoice choice;
  std::string_view digits = text;
  for (const std::string_view mode : {"colocated", "dedicated"}) {
    if (!text.starts_with(mode)) continue;
    choice.colocated = mode == "colocated";
    if (text == mode) return choice;
    digits = text.substr(mode.size());
    if (digits.starts_with(':')) digits.remove_prefix(1);
  }
  choice.count = parse_number<int>(digits).value_or(0);
  if (choice.count < 1)
    throw Error(ExitCode::usage, fmt::format("--servers {}: not a choice of servers", text),
                "write colocated, dedicated, a number of dedicated servers (4), or colocated:4");
  return choice;
}

void refuse(std::vector<Refusal>& refused, std::string what, std::string why) {
  Refusal refusal{std::move(what), std::move(why)};
  if (std::ranges::find(refused, refusal) == refused.end()) refused.push_back(std::move(refusal));
}

std::string reasons(const std::vector<Refusal>& refused) {
  std::vector<Refusal> by_reason;
  for (const Refusal& refusal : refused) {
    const auto known = std::ranges::find(by_reason, refusal.why, &Refusal::why);
    if (known == by_reason.end())
      by_reason.push_back(refusal);
    else
      known->what += ", " + refusal.what;
  }
  std::string text;
  for (const Refusal& refusal : by_reason)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", refusal.what, refusal.why);
  return text;
}

}  // namespace hbench
