#include "bench/command/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace hbench {

std::string labels_text(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> all;
  for (const auto& [key, value] : labels) all.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string short_commit(const std::string& commit) { return commit.substr(0, 12); }

bool is_flag(std::string_view argument, std::string_view flag) {
  return argument == flag || (argument.starts_with(flag) && argument[flag.size()] == '=');
}

}  // namespace hbench
