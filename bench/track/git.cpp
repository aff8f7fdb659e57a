#include "bench/track/git.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"

namespace hbench {
namespace {

/// A checkout of a large repository on a slow disk takes its time.
constexpr Seconds kTimeout(600);

std::string without_end(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

}  // namespace

GitAnswer git(const std::vector<std::string>& arguments, Interrupts interrupts) {
  GitAnswer answer;
  Spawn spawn;
  spawn.argv = {"git"};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.environment = {{"LC_ALL", "C"}, {"GIT_TERMINAL_PROMPT", "0"}};
  spawn.on_line = [&](std::string_view line) { answer.out.append(line) += '\n'; };
  spawn.output_timeout = kTimeout;
  spawn.despite_interrupts = interrupts == Interrupts::ignore;
  const Exit exit = run_process(spawn);
  answer.code = exit.code;
  answer.out = without_end(std::move(answer.out));
  answer.err = without_end(exit.error_tail);
  return answer;
}

std::string git_or_throw(const std::vector<std::string>& arguments, const std::string& doing) {
  GitAnswer answer = git(arguments);
  if (answer.good()) return std::move(answer.out);
  throw Error(ExitCode::environment, fmt::format("{}: git ended with exit code {}", doing, answer.code), answer.err);
}

std::string commit_name(const std::string& revision) {
  const GitAnswer answer = git({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  return answer.good() ? answer.out : "";
}

bool ignore_file(const std::filesystem::path& folder, const std::string& file, const std::string& pattern) {
  const std::string in = folder.empty() ? "." : folder.string();
  constexpr int kNotIgnored = 1;
  const bool missing = git({"-C", in, "check-ignore", "--quiet", "--", file}).code == kNotIgnored;
  if (!missing || !git({"-C", in, "ls-files", "--", file}).out.empty()) return false;
  const std::filesystem::path list = folder / ".gitignore";
  const std::string known = std::filesystem::exists(list) ? read_file(list) : "";
  std::ofstream out(list, std::ios::app | std::ios::binary);
  out << (known.empty() || known.ends_with('\n') ? "" : "\n") << pattern << '\n' << std::flush;
  if (!out)
    throw Error(ExitCode::environment, fmt::format("'{}' cannot be written", list.string()),
                fmt::format("add {} to it, so that git does not track results", pattern));
  return true;
}

std::map<std::string, std::string> repository_labels(const std::filesystem::path& folder) {
  const auto line = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-C", folder.empty() ? "." : folder.string()});
    const GitAnswer answer = git(arguments);
    return answer.good() ? answer.out : "";
  };
  std::map<std::string, std::string> labels;
  const std::string commit = line({"rev-parse", "--verify", "--quiet", "HEAD"});
  if (commit.empty()) return labels;
  labels["commit"] = commit;
  if (const std::string branch = line({"symbolic-ref", "--short", "--quiet", "HEAD"}); !branch.empty())
    labels["branch"] = branch;
  if (!line({"status", "--porcelain", "--untracked-files=no"}).empty()) labels["dirty"] = "yes";
  return labels;
}

}  // namespace hbench
