#include "bench/sweep/gpu_range.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr int kMostGpus = 65536;

[[noreturn]] void fail(std::string_view text, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("--gpus {}: {}", text, why),
              "write a range (1..128 doubles, 1..12:1 counts) or a list (1,2,4,8)");
}

int number(std::string_view text, std::string_view digits, std::string_view what = "GPU count") {
  int value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail(text, fmt::format("'{}' is not a number", digits));
  if (value < 1 && status == std::errc()) fail(text, fmt::format("a {} is at least 1, not {}", what, value));
  if (value > kMostGpus || status != std::errc())
    fail(text, fmt::format("{} GPUs are more than hbench simulates ({})", digits, kMostGpus));
  return value;
}

void add_range(std::string_view text, std::string_view item, std::size_t dots, std::set<int>& counts) {
  const int first = number(text, item.substr(0, dots));
  std::string_view rest = item.substr(dots + 2);
  const std::size_t colon = rest.find(':');
  const int last = number(text, rest.substr(0, colon));
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

std::vector<int> parse_gpu_range(std::string_view text) {
  std::set<int> counts;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos)
      counts.insert(number(text, item));
    else
      add_range(text, item, dots, counts);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  return {counts.begin(), counts.end()};
}

}  // namespace hbench
