#include "bench/hosts/ask_hosts.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/launch/job_folders.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/launcher_message.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/rank_lines.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Why a host did not answer.
std::string failure_of(const Exit& exit, Seconds timeout) {
  const std::string words = launcher_message(without_rank_tags(exit.error_head + exit.error_tail));
  if (exit.timed_out)
    return fmt::format(
        "no answer within {:.0f} s{}", timeout.value,
        words.empty() ? ": it is down, or a firewall or --network-interface keeps it from this machine" : ": " + words);
  if (exit.code == 0) return "";
  return words.empty() ? fmt::format("exit code {} without a message", exit.code) : words;
}

HostAnswer ask(const std::string& name, const HostQuestion& question, const Launcher& launcher, const Host& here) {
  HostAnswer answer{.host = name, .failure = {}, .lines = {}};
  RankLines lines([&](std::string_view line) { answer.lines.emplace_back(line), answer.at = now(); });
  Spawn spawn;
  spawn.argv = launcher.argv({.processes = 1,
                              .oversubscribed = false,
                              .as_root = here.as_root,
                              .worker = question.program,
                              .host_of_rank = {name},
                              .forwarded = {},
                              .network = question.network});
  spawn.output_timeout = question.timeout;
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  try {
    const JobFolders folders;  // of its own: launchers that share one race to make what they put there
    spawn.environment = launcher.environment(folders.paths());
    answer.failure = failure_of(run_process(spawn), question.timeout);
  } catch (const Error& error) {
    answer.failure = error.what();
  }
  return answer;
}

}  // namespace

std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here) {
  const Launcher& launcher = find_entry(launchers(), "mpirun", "launcher");
  if (const Availability there = launcher.availability(here.path); !there.available)
    throw there.error("cannot ask hosts");
  std::vector<HostAnswer> answers(allocation.hosts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] { answers[i] = ask(allocation.hosts[i].name, question, launcher, here); });
  threads.clear();
  return answers;
}

}  // namespace hbench
