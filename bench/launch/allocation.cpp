#include "bench/launch/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/host_name.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr int kMostSlots = 100'000;

std::optional<int> slots_in(std::string_view text) {
  const std::optional<int> slots = parse_number<int>(text);
  return slots && *slots >= 1 && *slots <= kMostSlots ? slots : std::nullopt;
}

/// Names are handed to programs: none may look like a flag or hold what separates them.
bool is_host_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
}

void add_host(Allocation& allocation, std::string_view name, int slots) {
  const auto known = std::ranges::find(allocation.hosts, name, &AllocatedHost::name);
  if (known != allocation.hosts.end())
    known->slots += slots;
  else
    allocation.hosts.push_back({std::string(name), slots});
}

/// Pieces between commas that stand in no brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view list) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    pieces.push_back(list.substr(begin, i - begin));
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
  if (!from || !to || *from < 0 || *to < *from || *to - *from > kMostSlots) refuse_nodes(list);
  std::vector<std::string> numbers;
  for (int number = *from; number <= *to; ++number) numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  return numbers;
}

/// `rack[1-2]n[1-2]` -> rack1n1, rack1n2, rack2n1, rack2n2.
std::vector<std::string> expand(std::string_view piece, std::string_view list) {
  const std::size_t open = piece.find('['), close = piece.find(']');
  if (open == piece.npos && close == piece.npos) {
    if (!is_host_name(piece)) refuse_nodes(list);
    return {std::string(piece)};
  }
  if (open == piece.npos || close == piece.npos || close < open) refuse_nodes(list);
  std::vector<std::string> rests{""};
  if (close + 1 < piece.size()) rests = expand(piece.substr(close + 1), list);
  std::vector<std::string> names;
  for (const std::string_view range : split_outside_brackets(piece.substr(open + 1, close - open - 1)))
    for (const std::string& number : numbers_in(range, list))
      for (const std::string& rest : rests) names.push_back(std::string(piece.substr(0, open)) + number + rest);
  return names;
}

Allocation slurm_allocation(const std::function<const char*(const char*)>& variable, const char* nodes) {
  const char* job = variable("SLURM_JOB_ID");
  Allocation allocation{.hosts = {}, .origin = fmt::format("Slurm's job {}", job != nullptr ? job : "?")};
  const std::vector<std::string> names = parse_slurm_nodes(nodes);
  // What mpirun counts as slots in a job; cores where a job asked for no tasks.
  constexpr std::array kCounts{"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"};
  std::vector<int> counts;
  for (const char* name : kCounts)
    if (const char* text = variable(name); text != nullptr && counts.empty()) counts = parse_slurm_counts(text);
  if (counts.empty()) counts.assign(names.size(), 1);
  if (counts.size() != names.size())
    throw Error(ExitCode::usage,
                fmt::format("Slurm names {} nodes and the tasks of {}: '{}'", names.size(), counts.size(), nodes),
                "name the hosts with -H or --hostfile");
  for (std::size_t i = 0; i < names.size(); ++i) add_host(allocation, names[i], counts[i]);
  return allocation;
}

bool is_this_machine(const std::string& name) {
  return name == "localhost" || short_host_name(name) == short_host_name(own_host_name());
}

}  // namespace

int Allocation::slots() const {
  return std::accumulate(hosts.begin(), hosts.end(), 0,
                         [](int sum, const AllocatedHost& host) { return sum + host.slots; });
}

std::string Allocation::in_words() const {
  std::string text;
  for (const AllocatedHost& host : hosts)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", host.name, host.slots);
  return origin == "-H" ? fmt::format("-H {}", text) : fmt::format("{} ({})", text, origin);
}

Allocation parse_host_list(std::string_view text) {
  Allocation allocation{.hosts = {}, .origin = "-H"};
  for (const std::string_view item : split_outside_brackets(text)) {
    const std::size_t colon = item.find(':');
    const std::string_view name = item.substr(0, colon);
    const std::optional<int> slots = colon == item.npos ? 1 : slots_in(item.substr(colon + 1));
    if (!is_host_name(name) || !slots)
      throw Error(ExitCode::usage, fmt::format("-H {}: '{}' is not a host with its slots", text, item),
                  "write HOST:SLOTS,HOST:SLOTS, such as -H a:4,b:4");
    add_host(allocation, name, *slots);
  }
  return allocation;
}

Allocation parse_hostfile(std::string_view text, const std::string& file) {
  Allocation allocation{.hosts = {}, .origin = file};
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    std::string_view name;
    std::optional<int> slots = 1;
    for (const std::string_view word : words_of(line.substr(0, line.find('#')))) {
      if (name.empty()) {
        const std::size_t colon = word.find(':');
        name = word.substr(0, colon);
        if (colon != word.npos) slots = slots_in(word.substr(colon + 1));
        if (is_host_name(name) && slots) continue;
      } else if (word.starts_with("slots=")) {
        slots = slots_in(word.substr(6));
        if (slots) continue;
      } else if (word.starts_with("max_slots=") || word.starts_with("max-slots=")) {
        if (slots_in(word.substr(10))) continue;
      }
      throw Error(ExitCode::usage, fmt::format("{}:{}: '{}' is not understood", file, number, word),
                  "write a host a line: NAME slots=4");
    }
    if (!name.empty()) add_host(allocation, name, *slots);
  }
  if (allocation.hosts.empty())
    throw Error(ExitCode::usage, fmt::format("{}: there is no host in it", file), "write a host a line: NAME slots=4");
  return allocation;
}

std::vector<std::string> parse_slurm_nodes(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view piece : split_outside_brackets(list))
    for (std::string& name : expand(piece, list)) names.push_back(std::move(name));
  return names;
}

std::vector<int> parse_slurm_counts(std::string_view list) {
  std::vector<int> counts;
  for (const std::string_view piece : split_outside_brackets(list)) {
    const std::size_t times = piece.find("(x");
    const std::optional<int> count = slots_in(piece.substr(0, times));
    std::optional<int> repeats = 1;
    if (times != piece.npos)
      repeats = piece.ends_with(')') ? slots_in(piece.substr(times + 2, piece.size() - times - 3)) : std::nullopt;
    if (!count || !repeats)
      throw Error(ExitCode::usage, fmt::format("'{}' is no list of tasks for each node", list),
                  "run inside a Slurm job, or name the hosts with -H or --hostfile");
    counts.insert(counts.end(), static_cast<std::size_t>(*repeats), *count);
  }
  return counts;
}

Allocation allocation_of(const HostFlags& flags, const std::function<const char*(const char*)>& variable) {
  if (!flags.hosts.empty() && !flags.hostfile.empty())
    throw Error(ExitCode::usage, "-H and --hostfile both name hosts", "give one of them");
  Allocation allocation;
  const char* default_file = variable("OMPI_MCA_orte_default_hostfile");
  if (!flags.hosts.empty())
    allocation = parse_host_list(flags.hosts);
  else if (!flags.hostfile.empty())
    allocation = parse_hostfile(read_file(flags.hostfile), flags.hostfile.string());
  else if (const char* nodes = variable("SLURM_JOB_NODELIST"); nodes != nullptr && *nodes != '\0')
    allocation = slurm_allocation(variable, nodes);
  else if (default_file != nullptr && *default_file != '\0')
    allocation = parse_hostfile(read_file(default_file), default_file);
  const bool given = !flags.hosts.empty() || !flags.hostfile.empty();
  if (!given && allocation.hosts.size() == 1 && is_this_machine(allocation.hosts.front().name)) allocation = {};
  allocation.launcher = flags.launcher;
  return allocation;
}

}  // namespace hbench
