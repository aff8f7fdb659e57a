#pragma once

/// The lines and numbers of tables that programs print.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// All of a word as a finite number.
std::optional<double> finite_number(std::string_view word);

/// What launchers and collectors of logs put before each line of a process (`0: `, `[1,0]<stdout>:`,
/// `[pod/a/b] `, a time): what stands before `at` in a line that is known, without a `#` and blanks at its ends.
std::string label_before(std::string_view line, std::size_t at);
/// `line` without the label that it begins with, whatever numbers stand there; as it is where it begins otherwise.
std::string_view without_label(std::string_view line, std::string_view label);
/// `line` with blanks in place of the label wherever it stands: a process that writes a line in pieces has it in each.
std::string without_labels(std::string_view line, std::string_view label);

}  // namespace hbench
