#include "bench/frameworks/find_framework.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"

namespace hbench {
namespace {

constexpr Seconds kLongestAnswer{60};

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

/// What an uncaught exception says, without its kind where it only says that something lacks.
std::string words_of(std::string_view error) {
  for (const std::string_view kind : {"ModuleNotFoundError: ", "ImportError: "})
    if (error.starts_with(kind)) error.remove_prefix(kind.size());
  constexpr std::size_t kLongest = 120;
  return error.size() <= kLongest ? std::string(error) : fmt::format("{} ...", error.substr(0, kLongest));
}

/// Empty where it does not say a version.
std::string version_in(std::string_view line) {
  const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  return answer.is_object() && answer.contains("version") && answer["version"].is_string() ? answer["version"] : "";
}

/// Asks one interpreter. Returns why it has none; empty where `found` has its answer.
std::string ask(FoundFramework& found, const std::string& choice) {
  const Exit exit = run_process({.argv = {found.python, found.script, "--version", choice},
                                 // A pinned or single-threaded answer is the quicker one.
                                 .environment = {{"OMP_NUM_THREADS", "1"}, kNoByteCode},
                                 .on_line = [&](std::string_view line) { found.version = version_in(line); },
                                 .output_timeout = kLongestAnswer});
  if (exit.timed_out) return fmt::format("no answer for {:.0f} s", kLongestAnswer.value);
  if (exit.code == 127) return "no such program";
  if (exit.code == 0 && !found.version.empty()) return "";
  const std::string words = words_of(last_line(exit.error_tail));
  return words.empty() ? fmt::format("it ends with exit code {}", exit.code) : words;
}

}  // namespace

std::vector<std::string> interpreters(const char* (*variable)(const char* name)) {
  const char* listed = variable("HBENCH_PYTHON");
  if (listed == nullptr || *listed == '\0') return {"python3", "/usr/bin/python3"};
  std::vector<std::string> pythons;
  std::istringstream list(listed);
  for (std::string python; std::getline(list, python, ':');)
    if (!python.empty()) pythons.push_back(python);
  return pythons;
}

FoundFramework find_framework(const FrameworkChoice& choice, const std::vector<std::string>& pythons,
                              const std::filesystem::path& folder) {
  FoundFramework found{.script = (folder / choice.framework->script).string()};
  std::vector<std::string> why;
  for (const std::string& python : pythons) {
    found.python = python;
    const std::string reason = ask(found, choice.text());
    if (reason.empty()) return found;
    why.push_back(fmt::format("{} ({})", python, reason));
  }
  found.state = {
      false, fmt::format("not installed for {}", fmt::join(why, " and ")),
      fmt::format("{}, or name an interpreter that has it: HBENCH_PYTHON=/path/to/python3", choice.framework->install)};
  return found;
}

FoundFramework find_framework(const FrameworkChoice& choice) {
  return find_framework(choice, interpreters([](const char* name) -> const char* { return std::getenv(name); }),
                        installation().data / "frameworks");
}

}  // namespace hbench
