#pragma once

/// Small pieces of sentences that several verbs print.

#include <map>
#include <string>
#include <string_view>

namespace hbench {

/// `branch=main, commit=abc`; empty for none.
std::string labels_text(const std::map<std::string, std::string>& labels);
/// Whether an argument is this flag, with or without a value behind `=`.
bool is_flag(std::string_view argument, std::string_view flag);
/// As much of a commit's name as people read.
std::string short_commit(const std::string& commit);

}  // namespace hbench
