#include "bench/front/fuller_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr const char* kInstallWhole =
    "install hbench as a whole, or build its target hbench; HBENCH_WORKER in the environment may name another worker";
/// LibTorch and a GPU's driver are there in seconds; on a cold disk in some more.
constexpr Seconds kPatience(120);

struct Answer {
  WorkerFacts facts;
  Availability start;
};

Answer without_program(const Availability& start) {
  return {{.torch = {}, .mpi = "", .nccl = "", .gpu_training = start}, start};
}

Answer ask() {
  if (const Availability there = fuller_availability(); !there.available) return without_program(there);
  std::string answer;
  Spawn spawn;
  spawn.argv = {fuller_program().string(), "facts"};
  // It computes nothing, and the threads that OpenBLAS begins with look for work for a tenth of a second.
  spawn.environment = {{"OPENBLAS_NUM_THREADS", "1"}};
  spawn.on_line = [&](std::string_view line) { answer = line; };
  spawn.output_timeout = kPatience;
  const Exit exit = run_process(spawn);
  if (exit.code == 0) return {parse_worker_facts(answer), {}};
  const std::string why = exit.error_tail.empty() ? fmt::format("exit code {}", exit.code) : one_line(exit.error_tail);
  return without_program({false, fmt::format("{} does not start: {}", fuller_program().string(), why), kInstallWhole});
}

const Answer& known_answer() {
  static const Answer kAnswer = ask();
  return kAnswer;
}

}  // namespace

Availability fuller_availability() {
  const std::string program = fuller_program().string();
  if (access(program.c_str(), X_OK) == 0) return {};
  return {false, fmt::format("there is no {}", program), kInstallWhole};
}

const Availability& fuller_start() { return known_answer().start; }

const WorkerFacts& fuller_facts() { return known_answer().facts; }

void become_fuller(const std::vector<std::string>& arguments) {
  const std::string program = fuller_program().string();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw Error(ExitCode::environment,
              fmt::format("cannot start {}: {}", program, std::generic_category().message(errno)), kInstallWhole);
}

}  // namespace hbench
