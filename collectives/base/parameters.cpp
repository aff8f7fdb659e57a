#include "collectives/base/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// `write zero:1`: the name with the standard values.
std::string example_of(std::string_view name, std::span<const NumberField> fields) {
  std::string text = fmt::format("write {}", name);
  for (const NumberField& field : fields) text += fmt::format(":{}", field.standard);
  return text;
}

}  // namespace

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
    values.push_back(field.standard);
    if (values.size() >= parts.size()) continue;
    const std::string_view part = parts[values.size()];
    const auto value = parse_number<double>(part);
    if (!value || !(*value >= field.smallest && *value <= field.largest) ||
        (field.whole && *value != std::floor(*value)))
      throw Error(ExitCode::usage,
                  fmt::format("'{}' is not the {} of {}, a {}number from {} to {}", part, field.name, name,
                              field.whole ? "whole " : "", field.smallest, field.largest),
                  example_of(name, fields));
    values.back() = *value;
  }
  return values;
}

std::vector<std::string> split_list(std::string_view text, std::string_view flag) {
  const std::vector<std::string_view> items = split(text, ',');
  if (std::ranges::any_of(items, &std::string_view::empty))
    throw Error(ExitCode::usage, fmt::format("{} '{}' has an empty item", flag, text), "write a,b,c without spaces");
  return {items.begin(), items.end()};
}

std::int64_t parse_size(std::string_view text, std::string_view flag) {
  const auto fail = [&](std::string_view why) {
    throw Error(ExitCode::usage, fmt::format("{} {}: {}", flag, text, why),
                "write bytes, or such as 32K, 128M, 1G (2^10, 2^20, 2^30)");
  };
  std::int64_t size = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (status == std::errc::result_out_of_range) fail("more bytes than can be counted");
  if (status != std::errc()) fail("not a size");
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  int shift = 0;
  for (const auto& [letter, bits] : {std::pair{'K', 10}, {'M', 20}, {'G', 30}})
    if (!unit.empty() && std::toupper(static_cast<unsigned char>(unit.front())) == letter) shift = bits;
  if (shift > 0) unit.remove_prefix(1);
  if (!unit.empty() && unit != "B" && unit != "iB") fail("not a size");
  if (size < 1) fail("a size is at least 1");
  if (size > INT64_MAX >> shift) fail("more bytes than can be counted");
  return size << shift;
}

}  // namespace hbench
