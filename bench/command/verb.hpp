#pragma once

/// The verbs of the program: one file each, those of the core listed in `verbs.cpp`, others by their features
/// (`bench/output/feature.hpp`).
///
/// The options of a command as data, from which completions and man pages are made: what `--help` prints as text.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"

namespace hbench {

struct CommandDescription;

/// What a verb was called with.
struct Call {
  std::vector<std::string> arguments;  ///< after the verb
  std::string command;                 ///< the whole line as typed
  /// Not null where only a description is asked for (`describe`): Arguments::parse fills it, and returns as after help.
  CommandDescription* description = nullptr;
};

/// A verb needs these in its own process. hbench has none, hbench-worker those of ranks (MPI, NCCL), hbench-trainer all
/// (LibTorch too).
enum class Libraries { none, of_ranks, all };

/// One entry of the table.
struct Verb {
  std::string_view name;
  std::string_view summary;
  int place = 0;  ///< among the others in help: by it they are sorted
  /// Hidden verbs are for the program itself.
  bool hidden = false;
  /// Such verbs run once, not on each rank of a launcher.
  bool starts_ranks = false;
  /// Null: none.
  Libraries (*libraries)(const Call& call) = nullptr;
  /// Reads its arguments, does its work, gives the exit code. \throws Error.
  ExitCode (*run)(const Call& call);
};

/// Of `hbench`, core and features, by their places: the order in which `hbench --help` prints them.
std::span<const Verb* const> verbs();
/// Of both programs, for themselves.
std::span<const Verb* const> inner_verbs();

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
inline CommandDescription describe(const Verb& verb, const std::vector<std::string>& arguments) {
  CommandDescription description;
  verb.run({.arguments = arguments, .description = &description});
  return description;
}

}  // namespace hbench
