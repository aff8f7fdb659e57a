#pragma once

/// CLI11 with hbench's manners: one clear line for a mistake, a suggestion, exit code 2.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/verbs/verb.hpp"

namespace hbench {

/// Parses `call.arguments` into the variables bound to `app`. True when help was asked for and printed.
/// \throws Error (usage).
bool parse_arguments(CLI::App& app, const Call& call);

/// `a,b,c` -> {"a", "b", "c"}; `flag` names the flag in messages. \throws Error (usage) for an empty item.
std::vector<std::string> split_list(std::string_view text, std::string_view flag);

}  // namespace hbench
