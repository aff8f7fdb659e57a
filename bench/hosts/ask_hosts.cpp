#include "bench/hosts/ask_hosts.hpp"

#include <fmt/format.h>

#include <deque>
#include <thread>

#include "bench/launch/job_spawn.hpp"
#include "bench/launch/launcher_message.hpp"
#include "bench/launch/rank_lines.hpp"
#include "collectives/base/wall_clock.hpp"

namespace hbench {
namespace {

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

HostAnswer ask(const std::string& name, Spawn& spawn, Seconds timeout) {
  HostAnswer answer{.host = name, .failure = {}, .lines = {}};
  RankLines lines([&](std::string_view line) { answer.lines.emplace_back(line), answer.at = wall_clock().value; });
  spawn.output_timeout = timeout;
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  try {
    answer.failure = failure_of(run_process(spawn), timeout);
  } catch (const Error& error) {
    answer.failure = error.what();
  }
  return answer;
}

}  // namespace

std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here) {
  std::deque<JobSpawn> jobs;  // with folders of their own: launchers that share one race to make what they put there
  for (const AllocatedHost& host : allocation.hosts)
    jobs.emplace_back(allocation.launcher,
                      Job{.worker = question.program, .host_of_rank = {host.name}, .network = question.network},
                      std::map<std::string, std::string>(), here);
  std::vector<HostAnswer> answers(allocation.hosts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] { answers[i] = ask(allocation.hosts[i].name, jobs[i].spawn, question.timeout); });
  threads.clear();
  return answers;
}

}  // namespace hbench
