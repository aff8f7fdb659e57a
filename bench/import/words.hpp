#pragma once

/// The lines and numbers of tables that programs print.

#include <optional>
#include <string_view>
#include <vector>

namespace hbench {

/// All of a word as a finite number.
std::optional<double> finite_number(std::string_view word);

/// Of an output, each without what a launcher puts before it (`without_prefix`).
std::vector<std::string_view> printed_lines(std::string_view text);

/// A line without what a launcher puts before it to say who printed it: `0: `, ` 12:`, `[1,0]<stdout>:`.
std::string_view without_prefix(std::string_view line);

}  // namespace hbench
