#include "bench/track/repository.hpp"

#include <string_view>
#include <vector>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// The first line; empty where git fails or there is none.
std::string git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  std::string line;
  Spawn spawn;
  spawn.argv = {"git", "-C", folder.empty() ? "." : folder.string()};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.output_timeout = Seconds(20);
  spawn.on_line = [&](std::string_view text) {
    if (line.empty()) line = text;
  };
  try {
    return run_process(spawn).code == 0 ? line : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::map<std::string, std::string> repository_labels(const std::filesystem::path& folder) {
  std::map<std::string, std::string> labels;
  const std::string commit = git(folder, {"rev-parse", "--verify", "--quiet", "HEAD"});
  if (commit.empty()) return labels;
  labels["commit"] = commit;
  if (const std::string branch = git(folder, {"symbolic-ref", "--short", "--quiet", "HEAD"}); !branch.empty())
    labels["branch"] = branch;
  if (!git(folder, {"status", "--porcelain", "--untracked-files=no"}).empty()) labels["dirty"] = "yes";
  return labels;
}

}  // namespace hbench
