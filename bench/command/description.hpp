#pragma once

/// The options of a command as data, from which completions and man pages are made: what `--help` prints as text.

#include <string>
#include <vector>

#include "bench/command/verb.hpp"

namespace hbench {

/// One option, flag or positional argument.
struct OptionDescription {
  std::vector<std::string> names;    ///< `-b`, `--minbytes`; of a positional argument its word
  std::string value;                 ///< `TEXT`, `INT`, `FLOAT`; empty for a flag
  std::vector<std::string> choices;  ///< where it takes one of these and no other
  std::string help;                  ///< with its range and its default
};

/// An action of a verb: `check` of `hbench track`.
struct ActionDescription {
  std::string name, summary;
};

struct CommandDescription {
  std::string name;  ///< `hbench track check`
  std::string text;  ///< what it does
  std::vector<OptionDescription> options, positionals;
  std::vector<ActionDescription> actions;
  std::string footer;  ///< examples, and what else help prints below the options
};

/// The description of a verb, or of its action where `arguments` begin with one. Runs nothing.
/// \throws Error (usage) for an unknown action.
CommandDescription describe(const Verb& verb, const std::vector<std::string>& arguments);

}  // namespace hbench
