#pragma once

/// One field of a CSV file, safe to open in a spreadsheet: used by every CSV that hbench writes.

#include <string>
#include <string_view>

namespace hbench {

/// Whether all of `text` is one finite number.
bool is_number(std::string_view text);

/// `text` as a field as in RFC 4180, quoted where that is needed. Text that a spreadsheet would run as a formula (after
/// blanks it begins with one of = + - @ | %, and it is no number) is preceded by an apostrophe.
std::string csv_field(std::string_view text);

}  // namespace hbench
