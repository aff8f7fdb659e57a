#include "collectives/compressors/parameters.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error refusal(std::string_view compressor, std::string_view field, std::string_view text, std::string_view wanted) {
  return {ExitCode::usage, fmt::format("{} of compressor '{}' is '{}'", field, compressor, text),
          fmt::format("give {}", wanted)};
}

}  // namespace

std::int64_t parse_whole(std::string_view compressor, std::string_view field, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  const auto value = number<std::int64_t>(text);
  if (!value || *value < least || *value > most)
    throw refusal(compressor, field, text, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

double parse_ratio(std::string_view compressor, std::string_view text) {
  const auto value = number<double>(text);
  if (!value || !(*value > 0 && *value <= 1))
    throw refusal(compressor, "ratio", text,
                  "a number above 0 and at most 1, such as 0.01 for one element in a hundred");
  return *value;
}

float parse_magnitude(std::string_view compressor, std::string_view field, std::string_view text) {
  const auto value = number<float>(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    throw refusal(compressor, field, text, "a finite number from 0 on");
  return *value;
}

}  // namespace hbench
