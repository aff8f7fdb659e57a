#include "bench/command/actions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "collectives/base/table.hpp"

namespace hbench {

ExitCode run_action(const Call& call, const ActionTexts& texts, std::span<const Action> actions) {
  if (!call.arguments.empty() && !call.arguments.front().starts_with('-')) {
    const auto action = std::ranges::find(actions, call.arguments.front(), &Action::name);
    if (action != actions.end())
      return action->run({.arguments = {call.arguments.begin() + 1, call.arguments.end()},
                          .command = call.command,
                          .description = call.description});
    std::vector<std::string_view> known;
    for (const Action& each : actions) known.push_back(each.name);
    throw unknown_name(texts.kind, call.arguments.front(), known);
  }
  Arguments app(std::string(texts.description), std::string(texts.verb));
  std::string footer = "Actions:\n";
  std::size_t width = 0;
  for (const Action& action : actions) width = std::max(width, action.name.size());
  for (const Action& action : actions) footer += fmt::format("  {:{}}  {}\n", action.name, width, action.summary);
  if (call.description != nullptr) {
    for (const Action& action : actions)
      call.description->actions.push_back({std::string(action.name), std::string(action.summary)});
    footer.clear();
  }
  app.footer(footer + std::string(texts.footer));
  if (app.parse(call)) return ExitCode::good;
  fmt::print("{}", app.help());
  return ExitCode::good;
}

}  // namespace hbench
