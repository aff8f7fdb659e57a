#include "reports/formats/csv_field.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

bool looks_like_formula(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && std::string_view("=+-@|%").find(text[start]) != std::string_view::npos;
}

}  // namespace

bool is_number(std::string_view text) {
  const std::optional<double> value = parse_number<double>(text);
  return value && std::isfinite(*value);
}

std::string csv_field(std::string_view text) {
  std::string field(looks_like_formula(text) && !is_number(text) ? "'" : "");
  for (char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field.find_first_of(",\";'\r\n") == std::string::npos ? field : fmt::format("\"{}\"", field);
}

}  // namespace hbench
