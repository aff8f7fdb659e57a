#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace hbench {

/// The number that a text begins with, and what follows it; none where it begins with none, or with one that is too
/// large.
template <class Number>
std::optional<std::pair<Number, std::string_view>> parse_leading_number(std::string_view text) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc()) return std::nullopt;
  return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

/// A text that is a number of this type and nothing else: no space, no unit, no `+`; none where it is not, or where it
/// is too large. A floating-point number may be `inf` or `nan`.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  const auto leading = parse_leading_number<Number>(text);
  return leading && leading->second.empty() ? std::optional(leading->first) : std::nullopt;
}

}  // namespace hbench
