#pragma once

/// Flags of command lines, and commands as they may be stored and shown: people type passwords and tokens into them.
/// Pure.

#include <span>
#include <string>
#include <string_view>

namespace hbench {

/// Whether an argument is this flag, with or without a value behind `=`.
bool is_flag(std::string_view argument, std::string_view flag);

/// Returns a shell's command with `***` in the place of secrets: the value after a name such as `API_TOKEN=`,
/// `--password` or `Authorization: Bearer`, the password in an address, and words that begin as the tokens of known
/// services do.
std::string without_secrets(std::string_view command);

/// The same of a program's arguments, joined by blanks: a value with blanks is one.
std::string without_secrets(std::span<const std::string> words);

}  // namespace hbench
