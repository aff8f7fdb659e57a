// Ranks that share memory, as processes: what is left when one of them dies.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/endpoints/shared_endpoint.hpp"
#include "collectives/transport/shared_memory.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/shared_names.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::shared_processes_test {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kPart = 16 << 20;
constexpr Seconds kPatience{2};

/// Waits for all children and returns how they ended, as waitpid says it. One that gives up by itself, with an exit
/// code, ends the others, who would wait for it until their time-outs.
std::vector<int> wait_for_all(const std::vector<pid_t>& children) {
  std::vector<int> ends(children.size(), 0);
  for (std::set<pid_t> running(children.begin(), children.end()); !running.empty();) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (running.erase(ended) == 0) continue;
    ends[static_cast<std::size_t>(std::ranges::find(children, ended) - children.begin())] = status;
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 0) continue;
    for (const pid_t child : running) kill(child, SIGKILL);
  }
  return ends;
}

/// Runs `rank` in a process of its own for every rank and returns how they ended, as `wait_for_all`.
template <class Rank>
std::vector<int> run_processes(Rank rank) {
  const auto memory = std::make_shared<SharedMemory>(SharedMemory::create(SharedSegment::bytes(kRanks, kPart)));
  std::vector<pid_t> children;
  for (int i = 0; i < kRanks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int code = 1;
      try {
        const auto endpoint = make_shared_endpoint(memory, Hosts::only(kRanks, i), nullptr);
        code = rank(*endpoint);
      } catch (const std::exception&) {
        code = 99;
      }
      _exit(code);
    }
    children.push_back(child);
  }
  return wait_for_all(children);
}

Schedule schedule_called(std::string_view name) { return parse_algorithm(name).build({.workers = kRanks}, 1); }

/// 0 when rank 1 was named as late in time.
int expect_rank_one_late(Operation& operation) {
  try {
    wait_for(operation, kPatience, "all-reduce");
  } catch (const Error& error) {
    return std::string(error.what()).find("rank 1 ") != std::string::npos && error.code() == ExitCode::lost_rank ? 0
                                                                                                                 : 2;
  }
  return 3;
}

TEST(SharedProcesses, StopWhenOneOfThemFails) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<int> ends = run_processes([](Endpoint& endpoint) {
    if (endpoint.transport().rank() == 1) return 7;
    const std::span<std::byte> memory = endpoint.allocate(4096);
    const std::span<float> values(reinterpret_cast<float*>(memory.data()), 1024);
    wait_for(*endpoint.prepare(schedule_called("direct"), Operand::of(values), nullptr), Seconds(60), "all-reduce");
    return 0;
  });
  EXPECT_EQ(WEXITSTATUS(ends[1]), 7);
  EXPECT_TRUE(WIFSIGNALED(ends[0]));
  EXPECT_TRUE(WIFSIGNALED(ends[2]));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(SharedProcesses, SumWhatEachBrings) {
  const std::vector<int> ends = run_processes([](Endpoint& endpoint) {
    for (const std::size_t elements : {3, 3000, 300000}) {
      const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
      const std::span<float> values(reinterpret_cast<float*>(memory.data()), elements);
      std::ranges::fill(values, static_cast<float>(1 << endpoint.transport().rank()));
      wait_for(*endpoint.prepare(schedule_called("direct"), Operand::of(values), nullptr), Seconds(60), "all-reduce");
      for (const float value : values)
        if (value != 7) return 1;
    }
    return 0;
  });
  EXPECT_THAT(ends, Each(0));
}

/// Without the folders of jobs that other processes have launched, whose names hold their pids.
std::set<std::string> names_of_this_process() {
  std::set<std::string> names = names_in_shared_memory();
  const std::string own = "-" + std::to_string(getpid()) + "-";
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with("hbench-") && name.find(own) == std::string::npos;
  });
  return names;
}

void kill_rank_one(std::string_view algorithm, std::size_t elements) {
  SCOPED_TRACE(algorithm);
  const auto before = names_of_this_process();
  const std::vector<int> ends = run_processes([&](Endpoint& endpoint) {
    const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
    const std::span<float> values(reinterpret_cast<float*>(memory.data()), elements);
    const Schedule schedule = schedule_called(algorithm);
    const auto operation = endpoint.prepare(schedule, Operand::of(values), nullptr);
    wait_for(*operation, Seconds(60), "all-reduce");
    if (endpoint.transport().rank() == 1) raise(SIGKILL);
    operation->restart();
    return expect_rank_one_late(*operation);
  });
  EXPECT_EQ(ends[0], 0);
  EXPECT_TRUE(WIFSIGNALED(ends[1]));
  EXPECT_EQ(ends[2], 0);
  EXPECT_EQ(names_of_this_process(), before);
}

TEST(SharedProcesses, NameADeadRankInTimeAndLeaveNothingBehind) {
  kill_rank_one("direct", 3);
  kill_rank_one("direct", 300000);
}

}  // namespace
}  // namespace hbench::shared_processes_test
