#pragma once

/// The verbs of the program: one file each, listed in `verbs.cpp`.

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

/// One entry of the table.
struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Hidden verbs are for the program itself.
  bool hidden = false;
  /// Whether it needs LibTorch, MPI or NCCL in its own process, which hbench-worker has and hbench has not. Null: no.
  bool (*needs_libraries)(const Call& call) = nullptr;
  /// Reads its arguments, does its work, gives the exit code. \throws Error.
  ExitCode (*run)(const Call& call);
};

/// Of `hbench`, in the order in which `hbench --help` prints them.
std::span<const Verb* const> verbs();
/// Of both programs, for themselves.
std::span<const Verb* const> inner_verbs();

}  // namespace hbench
