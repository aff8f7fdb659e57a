#include "bench/launch/host.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>

namespace hbench {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

/// The number of a file that holds nothing else; none for `max`, or without a file.
std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (std::int64_t number = 0; in >> number) return number;
  return std::nullopt;
}

/// The number behind a word at the beginning of a line.
std::optional<std::int64_t> number_after(const std::filesystem::path& file, const std::string& word) {
  std::ifstream in(file);
  for (std::string first; in >> first; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (std::int64_t number = 0; first == word && in >> number) return number;
  return std::nullopt;
}

/// What is left of one control group. Files that are cached count as used there, but give way.
std::int64_t left_of(const std::filesystem::path& group, const char* limit, const char* used, const char* cached) {
  const auto most = number_in(group / limit);
  const auto now = number_in(group / used);
  if (!most || !now) return kUnknown;
  const std::int64_t gives_way = number_after(group / "memory.stat", cached).value_or(0);
  return std::max<std::int64_t>(0, *most - std::max<std::int64_t>(0, *now - gives_way));
}

/// The path of this process's control group below the mount: behind the last colon of the line of `controller`, which
/// is empty for version 2. Containers see their own group as the root.
std::filesystem::path group_of(const std::filesystem::path& root, const std::string& controller) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) != controller) continue;
    return std::filesystem::path(line.substr(second + 1)).relative_path();
  }
  return {};
}

/// The least of a group and those that it is in.
template <class LeftOf>
std::int64_t least_up_to(const std::filesystem::path& mount, std::filesystem::path group, const LeftOf& left) {
  std::int64_t least = left(mount);
  for (; !group.empty(); group = group.parent_path()) least = std::min(least, left(mount / group));
  return least;
}

}  // namespace

int available_cores() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

Host this_host() {
  const char* path = std::getenv("PATH");
  rlimit files{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &files);
  return {.cores = available_cores(),
          .as_root = geteuid() == 0,
          .path = path != nullptr ? path : "",
          .open_files = files.rlim_cur};
}

std::int64_t available_memory(const std::filesystem::path& root) {
  std::int64_t least = kUnknown;
  if (const auto kibibytes = number_after(root / "proc/meminfo", "MemAvailable:")) least = *kibibytes * 1024;
  const auto version_2 = [](const std::filesystem::path& group) {
    return left_of(group, "memory.max", "memory.current", "inactive_file");
  };
  const auto version_1 = [](const std::filesystem::path& group) {
    return left_of(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
  };
  const std::filesystem::path mount = root / "sys/fs/cgroup";
  least = std::min(least, least_up_to(mount, group_of(root, ""), version_2));
  return std::min(least, least_up_to(mount / "memory", group_of(root, "memory"), version_1));
}

}  // namespace hbench
