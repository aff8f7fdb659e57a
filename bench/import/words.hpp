#pragma once

/// The words and numbers of tables that programs print.

#include <optional>
#include <string_view>
#include <vector>

namespace hbench {

/// What stands between blanks.
std::vector<std::string_view> words_of(std::string_view line);

/// All of a word as a finite number.
std::optional<double> finite_number(std::string_view word);

/// Of a text, each without what a launcher puts before it (`without_prefix`).
std::vector<std::string_view> lines_of(std::string_view text);

/// A line without what a launcher puts before it to say who printed it: `0: `, ` 12:`, `[1,0]<stdout>:`.
std::string_view without_prefix(std::string_view line);

}  // namespace hbench
