#include "collectives/base/flag_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "collectives/base/error.hpp"

namespace hbench {

std::vector<std::string> split_list(std::string_view text, std::string_view flag) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    items.emplace_back(text.substr(begin, comma - begin));
    if (items.back().empty())
      throw Error(ExitCode::usage, fmt::format("{} '{}' has an empty item", flag, text), "write a,b,c without spaces");
    begin = comma + 1;
  }
  return items;
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
