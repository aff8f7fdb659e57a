#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>

namespace hbench {

/// What lies in shared memory by name, without Open MPI's, which tests beside this one come and go with.
inline std::set<std::string> names_in_shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    std::string name = entry.path().filename();
    if (!name.starts_with("vader_segment")) names.insert(std::move(name));
  }
  return names;
}

}  // namespace hbench
