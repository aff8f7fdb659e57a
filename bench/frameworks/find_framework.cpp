#include "bench/frameworks/find_framework.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/launch/ask_hosts.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {
namespace {

constexpr Seconds kLongestAnswer{60};

/// What an answer of the script says: a version, or why there is none.
struct Answer {
  std::string version, lacks;
};

Answer answer_of(const HostAnswer& host) {
  if (!host.failure.empty()) return {"", host.failure};
  const std::string* line = host.json_line();
  const nlohmann::json said = line == nullptr ? nlohmann::json() : read_json(*line);
  const auto word = [&](const char* field) {
    return said.is_object() && said.contains(field) && said[field].is_string() ? said[field].get<std::string>() : "";
  };
  Answer answer{word("version"), word("lacks")};
  if (answer.version.empty() && answer.lacks.empty()) answer.lacks = "it says no version";
  return answer;
}

/// Asks one interpreter. Returns why the hosts do not all have it in one version; empty where `found` has that.
std::string ask(FoundFramework& found, const std::string& choice, const Allocation& hosts, const std::string& network) {
  std::map<std::string, std::vector<std::string>> reasons;  // with the hosts of each
  std::string first;
  found.version.clear();
  for (const HostAnswer& host : ask_hosts(hosts,
                                          {.program = {found.python, found.script, "--version", choice},
                                          .network = network,
                                          .timeout = kLongestAnswer,
                                          // A pinned or single-threaded answer is the quicker one.
                                           .environment = {{"OMP_NUM_THREADS", "1"}, kNoByteCode}},
                                          this_host())) {
    const Answer answer = answer_of(host);
    if (!answer.lacks.empty())
      reasons[answer.lacks].push_back(host.host);
    else if (found.version.empty())
      found.version = answer.version, first = host.host;
    else if (found.version != answer.version)
      reasons[fmt::format("version {}, and {} on {}", answer.version, found.version, first)].push_back(host.host);
  }
  std::vector<std::string> texts;
  for (const auto& [reason, names] : reasons)
    texts.push_back(hosts.is_local() ? reason : fmt::format("{}: {}", fmt::join(names, ", "), reason));
  return fmt::format("{}", fmt::join(texts, "; "));
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
                              const std::filesystem::path& folder, const Allocation& hosts,
                              const std::string& network) {
  FoundFramework found{.script = (folder / choice.framework->script).string()};
  std::vector<std::string> why;
  for (const std::string& python : pythons) {
    found.python = python;
    const std::string reason = ask(found, choice.text(), hosts, network);
    if (reason.empty()) return found;
    why.push_back(fmt::format("{} ({})", python, reason));
  }
  found.state = {false,
                 fmt::format("{} for {}", hosts.is_local() ? "not installed" : "not on all hosts in one version",
                             fmt::join(why, " and ")),
                 fmt::format("{}{}, or name an interpreter that has it: HBENCH_PYTHON=/path/to/python3",
                             hosts.is_local() ? "" : "on each host ", choice.framework->install)};
  return found;
}

FoundFramework find_framework(const FrameworkChoice& choice, const Allocation& hosts, const std::string& network) {
  return find_framework(choice, interpreters([](const char* name) -> const char* { return std::getenv(name); }),
                        installation().data / "frameworks", hosts, network);
}

}  // namespace hbench
