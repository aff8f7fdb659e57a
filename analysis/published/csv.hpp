#pragma once

/// Comma-separated values as in RFC 4180, read strictly: a file that is not what it seems is an error.
///
/// Fields may be quoted and then hold commas, line breaks and doubled quotes. Lines end in LF or CRLF.
/// The first row names the columns; every other row has as many fields. Blank lines are skipped.

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

struct CsvRow {
  std::size_t line = 0;  ///< of the row's first character, from 1
  std::vector<std::string> fields;
};

/// The rows with the header first; none for an empty stream.
/// \throws Error (usage) that names `file_name` and the line, for a stray or an unclosed quote and for a row
/// with more or fewer fields than the header.
std::vector<CsvRow> read_csv(std::istream& in, std::string_view file_name);

}  // namespace hbench
