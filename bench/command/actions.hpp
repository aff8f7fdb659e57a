#pragma once

/// A verb with several actions, the first argument: `hbench profile diff`, `hbench db merge`.

#include <span>
#include <string_view>

#include "bench/command/verb.hpp"

namespace hbench {

/// One thing that the verb does.
struct Action {
  std::string_view name, summary;
  /// Gets the arguments after the action's name.
  ExitCode (*run)(const Call& call);
};

/// What help says of the verb, and errors of its actions.
struct ActionTexts {
  std::string_view verb;         ///< `hbench profile`
  std::string_view description;  ///< one sentence
  std::string_view kind;         ///< `action on profiles`, for `no <kind> 'dif'; did you mean 'diff'?`
  std::string_view footer;       ///< below the list of actions
};

/// Runs the action that the first argument names; prints help where there is none. \throws Error (usage) for another.
ExitCode run_action(const Call& call, const ActionTexts& texts, std::span<const Action> actions);

}  // namespace hbench
