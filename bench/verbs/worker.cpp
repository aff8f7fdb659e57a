#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/verbs/worker.hpp"
#include "bench/worker/collective.hpp"
#include "bench/worker/training.hpp"

namespace hbench {
namespace {

/// One write per line, so that lines of several ranks do not mix.
void say(const WorkerLine& line) {
  const std::string text = to_json(line) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

}  // namespace

ExitCode run_worker(const Call& call, const PeerSet& peers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives its launcher
  if (call.arguments.size() != 1)
    throw Error(ExitCode::usage, "workers are started by hbench, not by people", "hbench --help lists the verbs");
  if (const auto collectives = parse_collective_order(call.arguments.front()))
    return run_collective_worker(*collectives, peers, say);
  return run_training_worker(parse_work_order(call.arguments.front()), say);
}

extern const Verb kWorker;
constinit const Verb kWorker{
    .name = "worker",
    .summary = "one rank of a measured case; started by sweep and collective",
    .hidden = true,
    .run = [](const Call& call) { return run_worker(call, {}); },
};

}  // namespace hbench
