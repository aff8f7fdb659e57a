#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace hbench {

/// A text that is a number of this type and nothing else: no space, no unit, no `+`; none where it is not, or where it
/// is too large. A floating-point number may be `inf` or `nan`.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace hbench
