#include "bench/front/worker_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr const char* kCure =
    "install hbench as a whole, or build its target hbench-worker; HBENCH_WORKER in the environment may name it";
/// LibTorch and a GPU's driver are there in seconds; on a cold disk in some more.
constexpr Seconds kPatience(120);

struct Answer {
  WorkerFacts facts;
  Availability start;
};

Answer without_worker(const Availability& start) {
  return {{.torch = {}, .mpi = "", .nccl = "", .gpu_training = start}, start};
}

Answer ask_worker() {
  if (const Availability there = worker_availability(); !there.available) return without_worker(there);
  std::string answer;
  Spawn spawn;
  spawn.argv = {installation().worker.string(), "facts"};
  spawn.on_line = [&](std::string_view line) { answer = line; };
  spawn.output_timeout = kPatience;
  const Exit exit = run_process(spawn);
  if (exit.code == 0) return {parse_worker_facts(answer), {}};
  const std::string why = exit.error_tail.empty() ? fmt::format("exit code {}", exit.code) : one_line(exit.error_tail);
  return without_worker({false, fmt::format("{} does not start: {}", installation().worker.string(), why), kCure});
}

const Answer& answer_of_worker() {
  static const Answer kAnswer = ask_worker();
  return kAnswer;
}

}  // namespace

Availability worker_availability() {
  const std::string worker = installation().worker.string();
  if (access(worker.c_str(), X_OK) == 0) return {};
  return {false, fmt::format("there is no {}", worker), kCure};
}

const Availability& worker_start() { return answer_of_worker().start; }

const WorkerFacts& worker_facts() { return answer_of_worker().facts; }

void become_worker(char** argv) {
  execv(installation().worker.c_str(), argv);
  throw Error(
      ExitCode::environment,
      fmt::format("cannot start {}: {}", installation().worker.string(), std::generic_category().message(errno)),
      kCure);
}

}  // namespace hbench
