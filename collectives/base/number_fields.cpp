#include "collectives/base/number_fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"

namespace hbench {
namespace {

/// `write zero:1`: the name with the standard values.
std::string example_of(std::string_view name, std::span<const NumberField> fields) {
  std::string text = fmt::format("write {}", name);
  for (const NumberField& field : fields) text += fmt::format(":{}", field.standard);
  return text;
}

}  // namespace

std::string text_with_numbers(std::string_view name, std::span<const NumberField> fields,
                              std::span<const double> values, std::size_t least) {
  std::size_t count = values.size();
  while (count > least && values[count - 1] == fields[count - 1].standard) --count;
  std::string text(name);
  for (std::size_t i = 0; i < count; ++i) text += fmt::format(":{}", values[i]);
  return text;
}

std::vector<double> parse_numbers(std::string_view text, std::string_view name, std::span<const NumberField> fields) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > fields.size() + 1)
    throw Error(ExitCode::usage,
                fmt::format("{} takes {} after its name, and '{}' has more", name,
                            fields.empty() ? "no number" : fmt::format("{} at most", fields.size()), text),
                example_of(name, fields));
  std::vector<double> values;
  for (const NumberField& field : fields) {
    double value = field.standard;
    if (const std::size_t at = values.size() + 1; at < parts.size()) {
      const char* const last = parts[at].data() + parts[at].size();
      const auto [end, error] = std::from_chars(parts[at].data(), last, value);
      const bool in_range = value >= field.smallest && value <= field.largest;
      if (error != std::errc() || end != last || !in_range || (field.whole && value != std::floor(value)))
        throw Error(ExitCode::usage,
                    fmt::format("'{}' is not the {} of {}, a {}number from {} to {}", parts[at], field.name, name,
                                field.whole ? "whole " : "", field.smallest, field.largest),
                    example_of(name, fields));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace hbench
