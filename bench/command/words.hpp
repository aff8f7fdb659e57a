#pragma once

/// Small pieces of sentences that several verbs print.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hbench {

/// `1 run`, `3 runs`.
std::string counted(std::int64_t number, std::string_view what);
/// `branch=main, commit=abc`; empty for none.
std::string labels_text(const std::map<std::string, std::string>& labels);
/// As much of a commit's name as people read.
std::string short_commit(const std::string& commit);

}  // namespace hbench
