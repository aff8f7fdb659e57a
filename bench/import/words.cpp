#include "bench/import/words.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/base/parse_number.hpp"
#include "collectives/base/text.hpp"

namespace hbench {

std::vector<std::string_view> printed_lines(std::string_view text) {
  std::vector<std::string_view> lines = lines_of(text);
  for (std::string_view& line : lines) line = without_prefix(line);
  return lines;
}

std::optional<double> finite_number(std::string_view word) {
  const std::optional<double> value = parse_number<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string_view without_prefix(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  std::string_view rest = line.substr(begin);
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(">:");
    return end == std::string_view::npos ? line : rest.substr(end + 2);
  }
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits > 0 && digits < rest.size() && rest[digits] == ':' ? rest.substr(digits + 1) : line;
}

}  // namespace hbench
