#include "bench/launch/ask_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "bench/launch/job_spawn.hpp"
#include "bench/launch/launcher_message.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/rank_lines.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/wall_clock.hpp"

namespace hbench {
namespace {

constexpr int kNoProgram = 127;
constexpr std::string_view kNoNetwork = ": it is down, or a firewall or --network-interface keeps it from this machine";

/// Why a host did not answer.
std::string failure_of(const Exit& exit, const std::string& host, Seconds timeout) {
  const std::string words = launcher_message(without_rank_tags(exit.error_head + exit.error_tail));
  if (exit.timed_out) {
    const std::string_view alone = host.empty() ? "" : kNoNetwork;
    return fmt::format("no answer within {:.0f} s{}", timeout.value, words.empty() ? std::string(alone) : ": " + words);
  }
  if (exit.code == 0 || !words.empty()) return exit.code == 0 ? "" : words;
  return exit.code == kNoProgram ? "no such program" : fmt::format("exit code {} without a message", exit.code);
}

HostAnswer ask(const std::string& name, Spawn& spawn, Seconds timeout) {
  HostAnswer answer{.host = name};
  RankLines lines([&](std::string_view line) { answer.lines.emplace_back(line), answer.at = wall_clock().value; });
  spawn.output_timeout = timeout;
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  try {
    answer.failure = failure_of(run_process(spawn), name, timeout);
  } catch (const Error& error) {
    answer.failure = error.what();
  }
  return answer;
}

}  // namespace

const std::string* HostAnswer::json_line() const {
  const auto found = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with('{'); });
  return found == lines.end() ? nullptr : &*found;
}

std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here) {
  std::vector<std::string> hosts;
  for (const AllocatedHost& host : allocation.hosts) hosts.push_back(host.name);
  if (hosts.empty()) hosts.emplace_back();
  std::deque<JobSpawn> jobs;  // with folders of their own: launchers that share one race to make what they put there
  for (const std::string& host : hosts)
    jobs.emplace_back(host.empty() ? "local" : allocation.launcher,
                      Job{.worker = question.program,
                          .host_of_rank = host.empty() ? std::vector<std::string>() : std::vector<std::string>{host},
                          .network = question.network},
                      question.environment, here);
  std::vector<HostAnswer> answers(hosts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] { answers[i] = ask(hosts[i], jobs[i].spawn, question.timeout); });
  threads.clear();
  return answers;
}

}  // namespace hbench
