#include "analysis/prediction/count_range.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr CountedThing kGpus{"--gpus", "GPU", 65536};

/// One text, and what its numbers count.
struct RangeText {
  std::string_view text;
  const CountedThing& thing;
};

[[noreturn]] void fail(const RangeText& range, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("{} {}: {}", range.thing.flag, range.text, why),
              "write a range (1..128 doubles, 1..12:1 counts) or a list (1,2,4,8)");
}

int number(const RangeText& text, std::string_view digits, const std::string& what) {
  int value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail(text, fmt::format("'{}' is not a number", digits));
  if (value < 1 && status == std::errc()) fail(text, fmt::format("a {} is at least 1, not {}", what, value));
  if (value > text.thing.most || status != std::errc())
    fail(text, fmt::format("{} {}s are more than hbench takes ({})", digits, text.thing.name, text.thing.most));
  return value;
}

int count_of(const RangeText& text, std::string_view digits) {
  return number(text, digits, fmt::format("{} count", text.thing.name));
}

void add_range(const RangeText& text, std::string_view item, std::size_t dots, std::set<int>& counts) {
  const int first = count_of(text, item.substr(0, dots));
  std::string_view rest = item.substr(dots + 2);
  const std::size_t colon = rest.find(':');
  const int last = count_of(text, rest.substr(0, colon));
  if (last < first) fail(text, fmt::format("the range runs backwards; you may mean {}..{}", last, first));
  if (colon != std::string_view::npos) {
    const int step = number(text, rest.substr(colon + 1), "step");
    for (int count = first; count <= last; count += step) counts.insert(count);
  } else {
    for (long count = first; count <= last; count *= 2) counts.insert(static_cast<int>(count));
  }
  counts.insert(last);
}

}  // namespace

std::vector<int> parse_gpu_range(std::string_view text) { return parse_count_range(text, kGpus); }

std::vector<int> parse_count_range(std::string_view whole, const CountedThing& thing) {
  const RangeText text{whole, thing};
  std::set<int> counts;
  std::string_view rest = whole;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos)
      counts.insert(count_of(text, item));
    else
      add_range(text, item, dots, counts);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  return {counts.begin(), counts.end()};
}

}  // namespace hbench
