#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// The lines of a text without their ends; what follows the last end is one too, if there is anything.
std::vector<std::string_view> lines_of(std::string_view text);

/// What stands between blanks, tabs and carriage returns.
std::vector<std::string_view> words_of(std::string_view line);

/// `text` without white space at its ends.
std::string_view trimmed(std::string_view text);

/// `text` with the small letters of ASCII; other characters stay as they are.
std::string lower_case(std::string text);

/// Whether it is of the form `2026-11-21T09:00:00Z`: such texts are in the order of their times.
bool is_utc_time(std::string_view text);

/// `1 run`, `3 runs`, `2 launches`.
std::string counted(std::int64_t number, std::string_view noun);

}  // namespace hbench
