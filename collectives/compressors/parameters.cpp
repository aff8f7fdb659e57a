#include "collectives/compressors/parameters.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
void refuse_parameter(std::string_view compressor, std::string_view field, std::string_view text,
                      std::string_view wanted) {
  throw Error(ExitCode::usage, fmt::format("{} of compressor '{}' is '{}'", field, compressor, text),
              fmt::format("give {}", wanted));
}

std::int64_t parse_whole(std::string_view compressor, std::string_view field, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  const auto value = parse_number<std::int64_t>(text);
  if (!value || *value < least || *value > most)
    refuse_parameter(compressor, field, text, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

double parse_ratio(std::string_view compressor, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !(*value > 0 && *value <= 1))
    refuse_parameter(compressor, "ratio", text,
                     "a number above 0 and at most 1, such as 0.01 for one element in a hundred");
  return *value;
}

float parse_magnitude(std::string_view compressor, std::string_view field, std::string_view text) {
  const auto value = parse_number<float>(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    refuse_parameter(compressor, field, text, "a finite number from 0 on");
  return *value;
}

}  // namespace hbench
