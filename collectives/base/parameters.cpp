#include "collectives/base/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/base/error.hpp"

namespace hbench {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; (at = text.find(separator)) != std::string_view::npos; text.remove_prefix(at + 1))
    parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

NamedParameters split_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}};
  if (colon + 1 == text.size())
    throw Error(ExitCode::usage, fmt::format("nothing follows the colon of '{}'", text), "leave the colon out");
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string complete_parameters(std::string_view what, std::string_view name, std::string_view fields,
                                std::string_view defaults, std::string_view given) {
  if (given.empty()) return std::string(defaults);
  if (fields.empty())
    throw Error(ExitCode::usage, fmt::format("{} '{}' takes no parameters, but '{}' was given", what, name, given),
                fmt::format("write {}", name));
  std::vector<std::string_view> values = split(defaults, ':');
  const std::vector<std::string_view> texts = split(given, ':');
  const std::string form = fmt::format("write {0}:{1}, such as {0}:{2}", name, fields, defaults);
  if (texts.size() > values.size())
    throw Error(ExitCode::usage,
                fmt::format("{} '{}' takes {} parameter{}, but '{}' has {}", what, name, values.size(),
                            values.size() == 1 ? "" : "s", given, texts.size()),
                form);
  if (std::ranges::any_of(texts, &std::string_view::empty))
    throw Error(ExitCode::usage, fmt::format("a parameter of {} '{}' is empty in '{}'", what, name, given), form);
  std::ranges::copy(texts, values.begin());
  return fmt::format("{}", fmt::join(values, ":"));
}

}  // namespace hbench
