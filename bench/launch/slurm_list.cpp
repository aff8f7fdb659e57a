#include <fmt/format.h>

#include <optional>

#include "bench/launch/host_list.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Of a list: brackets multiply.
constexpr std::size_t kMostNodes = 1'000'000;

/// Pieces between commas that stand in no brackets, without the blanks at their ends.
std::vector<std::string_view> split_outside_brackets(std::string_view list) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    pieces.push_back(trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  return pieces;
}

[[noreturn]] void refuse_nodes(std::string_view list) {
  throw Error(ExitCode::usage, fmt::format("SLURM_JOB_NODELIST='{}' is no list of nodes", list),
              "run inside a Slurm job, or name the hosts with -H or --hostfile");
}

/// `1-3` -> 1, 2, 3 and `07` -> 07, in as many digits as its first number.
std::vector<std::string> numbers_in(std::string_view range, std::string_view list) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == range.npos ? first : range.substr(dash + 1);
  const std::optional<int> from = parse_number<int>(first), to = parse_number<int>(last);
  if (!from || !to || *from < 0 || *to < *from || *to - *from >= static_cast<int>(kMostNodes)) refuse_nodes(list);
  std::vector<std::string> numbers;
  for (int number = *from; number <= *to; ++number) numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  return numbers;
}

/// `rack[1-2]n[1-2]` -> rack1n1, rack1n2, rack2n1, rack2n2.
std::vector<std::string> expand(std::string_view piece, std::string_view list) {
  const std::size_t open = piece.find('['), close = piece.find(']');
  if (open == piece.npos && close == piece.npos) return {std::string(piece)};
  if (open == piece.npos || close == piece.npos || close < open) refuse_nodes(list);
  const std::vector<std::string> rests = expand(piece.substr(close + 1), list);
  std::vector<std::string> names;
  for (const std::string_view range : split_outside_brackets(piece.substr(open + 1, close - open - 1)))
    for (const std::string& number : numbers_in(range, list)) {
      if (names.size() + rests.size() > kMostNodes) refuse_nodes(list);
      for (const std::string& rest : rests) names.push_back(std::string(piece.substr(0, open)) + number + rest);
    }
  return names;
}

}  // namespace

std::vector<std::string> parse_slurm_nodes(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view piece : split_outside_brackets(list))
    for (std::string& name : expand(piece, list)) {
      if (!is_host_name(name) || names.size() == kMostNodes) refuse_nodes(list);
      names.push_back(std::move(name));
    }
  return names;
}

std::vector<int> parse_slurm_counts(std::string_view list) {
  std::vector<int> counts;
  for (const std::string_view piece : split_outside_brackets(list)) {
    const std::size_t times = piece.find("(x");
    const int count = slots_in(piece.substr(0, times));
    int repeats = 1;
    if (times != piece.npos)
      repeats = piece.ends_with(')') ? slots_in(piece.substr(times + 2, piece.size() - times - 3)) : 0;
    if (count == 0 || repeats == 0 || counts.size() + static_cast<std::size_t>(repeats) > kMostNodes)
      throw Error(ExitCode::usage, fmt::format("'{}' is no list of tasks for each node", list),
                  "run inside a Slurm job, or name the hosts with -H or --hostfile");
    counts.insert(counts.end(), static_cast<std::size_t>(repeats), count);
  }
  return counts;
}

}  // namespace hbench
