#include "collectives/base/flag_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"

namespace hbench {

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
