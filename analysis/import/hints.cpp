#include <fmt/format.h>

#include "analysis/import/format.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

[[noreturn]] void fail(std::string_view file, const std::string& what, std::string hint) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", file, what), std::move(hint));
}

/// Takes a number from the hints where the file leaves it open (0). \throws Error (usage) where both differ.
void complete_number(int& known, int given, std::string_view file, std::string_view what) {
  if (known > 0 && given > 0 && known != given)
    fail(file, fmt::format("it says that it ran on {} {}, and {} are given", known, what, given),
         fmt::format("leave out --{}, or give the file of that run", what));
  if (known < 1) known = given;
}

}  // namespace

void complete_collectives(ImportedOutput& output, std::string_view file, const ImportHints& hints) {
  const std::string collective =
      hints.collective.empty() ? "" : std::string(to_string(parse_collective_kind(hints.collective)));
  for (CaseResult& result : output.cases) {
    Case& asked = result.asked;
    if (asked.is_benchmark()) continue;
    if (!collective.empty() && asked.collective.name != collective)
      fail(file, fmt::format("it is of {}, and --collective says {}", asked.collective.name, collective),
           "leave out --collective, or give the file of that one");
    complete_number(asked.gpus, hints.ranks, file, "ranks");
    complete_number(asked.nodes, hints.nodes, file, "nodes");
    if (asked.gpus < 1) fail(file, "it does not say how many ranks it ran on", "add such as --ranks 16 --nodes 2");
    if (asked.nodes > asked.gpus)
      fail(file, fmt::format("{} ranks are not on {} nodes", asked.gpus, asked.nodes), "check --ranks and --nodes");
  }
}

}  // namespace hbench
