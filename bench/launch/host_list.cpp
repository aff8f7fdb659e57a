#include "bench/launch/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr int kMostSlots = 100'000;

/// Whether a text may be handed to programs as a host's name: none looks like a flag or holds what separates names.
bool is_host_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
}

/// A whole number of slots, or 0 where a text is none.
int slots_in(std::string_view text) {
  const int slots = parse_number<int>(text).value_or(0);
  return slots >= 1 && slots <= kMostSlots ? slots : 0;
}

/// Of a job. The largest machines have a tenth of it.
constexpr long kMostOfAJob = 100'000'000;

/// `fd00::12`, `[fd00::12]:8`, which have more colons than a name with its slots.
void refuse_ipv6(const std::string& where, std::string_view word) {
  constexpr int kFullColons = 7;
  if (!word.starts_with('[') && word.find("::") == word.npos && std::ranges::count(word, ':') < kFullColons) return;
  throw Error(ExitCode::usage, fmt::format("{}: '{}': addresses of IPv6 are not read", where, word),
              "give the host a name, in /etc/hosts or ~/.ssh/config, and write that");
}

/// Numbers behind a host's colon that are ports of ssh more often than slots.
bool is_port(int slots) { return slots == 22 || slots == 2222; }

[[noreturn]] void refuse_port(const std::string& where, std::string_view word, std::string_view host, int port) {
  throw Error(ExitCode::usage, fmt::format("{}: '{}': is this a port? Slots are expected", where, word),
              fmt::format("for slots write {0} slots={1} into a --hostfile; for a port Port {1} behind Host {0} into "
                          "~/.ssh/config",
                          host, port));
}

/// `user@host`, which may have slots behind it.
void refuse_user(const std::string& where, std::string_view word) {
  const std::string_view who = word.substr(0, word.find(':'));
  const std::size_t at = who.find('@');
  if (at == who.npos || !is_host_name(who.substr(0, at)) || !is_host_name(who.substr(at + 1))) return;
  throw Error(ExitCode::usage, fmt::format("{}: '{}' names a user; only names of hosts are read", where, word),
              fmt::format("write {1}, and its user into ~/.ssh/config: Host {1}, User {0}", who.substr(0, at),
                          who.substr(at + 1)));
}

[[noreturn]] void refuse_line(const std::string& file, int line, std::string_view word) {
  refuse_user(fmt::format("{}:{}", file, line), word);
  refuse_ipv6(fmt::format("{}:{}", file, line), word);
  throw Error(ExitCode::usage, fmt::format("{}:{}: '{}' is not understood", file, line, word),
              "write a host a line: NAME slots=4");
}

/// The words of a line of a host file, with `slots = 4` as one.
std::vector<std::string> words_of_host(std::string_view line) {
  std::vector<std::string> words;
  bool joins = false;
  for (const std::string_view word : words_of(line.substr(0, line.find('#')))) {
    if (!words.empty() && (joins || word.starts_with('=')))
      words.back() += word;
    else
      words.emplace_back(word);
    joins = word.ends_with('=');
  }
  return words;
}

/// A line of a host file.
struct HostLine {
  std::string name;
  std::optional<int> slots;  ///< where they are written
};

/// Open MPI's words for slots.
constexpr std::array<std::string_view, 5> kSlotWords{"slots", "cpu", "count", "max_slots", "max-slots"};

/// \pre the line has a word
HostLine parse_line(const std::vector<std::string>& words, const std::string& file, int number) {
  const std::string& first = words.front();
  const std::size_t colon = first.find(':');
  HostLine host{.name = first.substr(0, colon)};
  if (colon != first.npos) host.slots = slots_in(std::string_view(first).substr(colon + 1));
  if (!is_host_name(host.name) || host.slots == 0) refuse_line(file, number, first);
  const std::string place = fmt::format("{}:{}", file, number);
  if (is_port(host.slots.value_or(0))) refuse_port(place, first, host.name, *host.slots);
  int most = kMostSlots;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view key = word.substr(0, word.find('='));
    const int count = key.size() < word.size() ? slots_in(word.substr(key.size() + 1)) : 0;
    if (key.ends_with("port")) refuse_port(place, word, host.name, count);
    if (std::ranges::find(kSlotWords, key) == kSlotWords.end()) refuse_line(file, number, word);
    if (count == 0)
      throw Error(ExitCode::usage, fmt::format("{}: '{}': a host has 1 to {} slots", place, word, kMostSlots),
                  "write a host a line: NAME slots=4; leave out hosts that are not to be used");
    (key.starts_with("max") ? most : host.slots.emplace()) = count;
  }
  if (host.slots.value_or(1) > most)
    throw Error(ExitCode::usage,
                fmt::format("{}: {} has {} slots, and {} at most", place, host.name, *host.slots, most),
                "write the slots that are to be used, once");
  return host;
}

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

/// A name in a list has no more of these: its writer would want all memory.
constexpr std::size_t kMostDigits = 20, kMostBrackets = 10, kLongestName = 255;

[[noreturn]] void refuse_nodes(std::string_view list) {
  constexpr std::size_t kShown = 100;
  throw Error(ExitCode::usage,
              fmt::format("SLURM_JOB_NODELIST='{}{}' is no list of nodes", list.substr(0, kShown),
                          list.size() > kShown ? "..." : ""),
              "run inside a Slurm job, or name the hosts with -H or --hostfile");
}

[[noreturn]] void refuse_variable(std::string_view list, std::string_view variable) {
  throw Error(ExitCode::usage, fmt::format("{}='{}' is no list of hosts", variable, list),
              "name the hosts with -H or --hostfile");
}

/// `1-3` -> 1, 2, 3 and `07` -> 07, in as many digits as its first number.
std::vector<std::string> numbers_in(std::string_view range, std::string_view list) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == range.npos ? first : range.substr(dash + 1);
  const std::optional<int> from = parse_number<int>(first), to = parse_number<int>(last);
  if (!from || !to || first.size() > kMostDigits || *from < 0 || *to < *from ||
      *to - *from >= static_cast<int>(kMostNodes))
    refuse_nodes(list);
  std::vector<std::string> numbers;
  for (std::int64_t number = *from; number <= *to; ++number)
    numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  return numbers;
}

/// `rack[1-2]n[1-2]` -> rack1n1, rack1n2, rack2n1, rack2n2.
std::vector<std::string> expand(std::string_view piece, std::string_view list) {
  const std::size_t open = piece.find('['), close = piece.find(']');
  if (std::min(open, piece.size()) > kLongestName) refuse_nodes(list);
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

bool HostList::add(std::string_view name, int slots) {
  slots_ += slots;
  if (slots_ > kMostOfAJob)
    throw Error(ExitCode::usage,
                fmt::format("the hosts have more than {} slots, with those of '{}'", kMostOfAJob, name),
                "name the hosts of one job");
  const auto [known, is_new] = by_name_.try_emplace(std::string(name), hosts_.size());
  if (is_new)
    hosts_.push_back({std::string(name), slots});
  else
    hosts_[known->second].slots += slots;
  return is_new;
}

Allocation parse_host_list(std::string_view text) {
  HostList list;
  std::vector<std::string_view> items = split_outside_brackets(text);
  if (items.size() > 1 && items.back().empty()) items.pop_back();  // a comma behind the last
  for (const std::string_view item : items) {
    const std::size_t colon = item.find(':');
    const std::string_view name = item.substr(0, colon);
    const int slots = colon == item.npos ? 1 : slots_in(item.substr(colon + 1));
    const std::string where = fmt::format("-H {}", text);
    refuse_ipv6(where, item);
    if (!is_host_name(name)) refuse_user(where, item);
    if (!is_host_name(name) || slots == 0)
      throw Error(ExitCode::usage, fmt::format("-H {}: '{}' is not a host with its slots", text, item),
                  "write HOST:SLOTS,HOST:SLOTS, such as -H a:4,b:4");
    if (is_port(slots)) refuse_port(where, item, name, slots);
    list.add(name, slots);
  }
  return {.hosts = list.take(), .origin = "-H"};
}

Allocation parse_hostfile(std::string_view text, const std::string& file) {
  HostList list;
  std::unordered_map<std::string, bool> written;  // by host, whether its slots were
  int number = 0;
  for (const std::string_view line : lines_of(without_byte_order_mark(text))) {
    ++number;
    const std::vector<std::string> words = words_of_host(line);
    if (words.empty()) continue;
    const HostLine host = parse_line(words, file, number);
    const auto [known, is_new] = written.emplace(host.name, host.slots.has_value());
    if (!is_new && (known->second || host.slots))
      throw Error(ExitCode::usage, fmt::format("{}:{}: '{}' is there twice, with slots", file, number, host.name),
                  "mpirun refuses that: write each host once with all its slots, or a line without slots for each");
    list.add(host.name, host.slots.value_or(1));
  }
  Allocation allocation{.hosts = list.take(), .origin = file};
  if (allocation.hosts.empty())
    throw Error(ExitCode::usage, fmt::format("{}: there is no host in it", file), "write a host a line: NAME slots=4");
  return allocation;
}

Allocation parse_host_pairs(std::string_view list, const std::string& variable) {
  HostList hosts;
  const std::vector<std::string_view> words = words_of(list);
  const std::size_t first = words.size() % 2;
  bool good = first == 0 || parse_number<std::size_t>(words[0]) == words.size() / 2;
  for (std::size_t i = first; good && i < words.size(); i += 2) {
    const int slots = slots_in(words[i + 1]);
    good = is_host_name(words[i]) && slots > 0;
    if (good) hosts.add(words[i], slots);
  }
  if (!good) refuse_variable(list, variable);
  return {.hosts = hosts.take(), .origin = variable};
}

Allocation parse_grid_engine_hosts(std::string_view text, const std::string& file) {
  HostList hosts;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) continue;
    const int slots = words.size() > 1 ? slots_in(words[1]) : 0;
    if (!is_host_name(words[0]) || slots == 0)
      throw Error(ExitCode::usage, fmt::format("{}:{}: '{}' is not a host with its slots", file, number, line),
                  "Grid Engine writes HOST SLOTS QUEUE PROCESSORS; name the hosts with -H or --hostfile");
    hosts.add(words[0], slots);
  }
  Allocation allocation{.hosts = hosts.take(), .origin = file};
  if (allocation.hosts.empty())
    throw Error(ExitCode::usage, fmt::format("{}: there is no host in it", file),
                "name the hosts with -H or --hostfile");
  return allocation;
}

Allocation parse_names(std::string_view list, std::string_view variable, int slots) {
  std::string names(list);
  std::ranges::replace_if(
      names, [](char c) { return std::string_view(",;[]\"\n").find(c) != std::string_view::npos; }, ' ');
  HostList hosts;
  for (const std::string_view name : words_of(names)) {
    if (!is_host_name(name)) refuse_variable(list, variable);
    hosts.add(name, slots);
  }
  return {.hosts = hosts.take(), .origin = std::string(variable)};
}

std::vector<std::string> parse_slurm_nodes(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view piece : split_outside_brackets(list)) {
    if (std::ranges::count(piece, '[') > static_cast<std::ptrdiff_t>(kMostBrackets)) refuse_nodes(list);
    for (std::string& name : expand(piece, list)) {
      if (!is_host_name(name) || names.size() == kMostNodes) refuse_nodes(list);
      names.push_back(std::move(name));
    }
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
