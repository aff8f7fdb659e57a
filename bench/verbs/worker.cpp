#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench/collective/worker.hpp"
#include "bench/plan.hpp"
#include "bench/strategy.hpp"
#include "bench/verbs/worker.hpp"
#include "bench/worker_protocol.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

/// One write per line, so that lines of several ranks do not mix.
void say(const WorkerLine& line) {
  const std::string text = to_json(line) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

TrainingRequest request_for(const WorkOrder& order) {
  TrainingRequest request;
  request.model = order.asked.workload;
  request.batch = order.asked.batch_per_gpu;
  request.image_size = order.asked.image_size;
  request.world = world_of(order.asked, order.asked.gpus);  // one node
  request.overlap = order.asked.strategy.overlap;
  request.warmup_steps = order.warmup_steps;
  request.steps = order.steps;
  request.budget = order.budget;
  request.timeout = order.timeout;
  if (order.asked.strategy.algorithm == "none") return request;
  const StepStrategy strategy = resolve(order.asked.strategy);
  request.algorithm = strategy.algorithm;
  request.placement = strategy.placement;
  request.compressor = strategy.compressor;
  request.fusion = strategy.fusion;
  return request;
}

}  // namespace

ExitCode run_worker(const Call& call, const PeerSet& peers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives its launcher
  if (call.arguments.size() != 1)
    throw Error(ExitCode::usage, "workers are started by hbench, not by people", "hbench --help lists the verbs");
  if (const auto collectives = parse_collective_order(call.arguments.front()))
    return run_collective_worker(*collectives, peers, say);
  const WorkOrder order = parse_work_order(call.arguments.front());
  const TrainingRequest request = request_for(order);
  std::unique_ptr<Endpoint> endpoint;
  if (!request.algorithm.empty()) endpoint = make_mpi_endpoint();
  const int rank = endpoint ? endpoint->transport().rank() : 0;
  pin_to_core(rank % order.cores);
  say(HelloLine{rank, getpid()});
  ExitCode failure = ExitCode::good;
  try {
    const std::uint64_t digest = train(request, endpoint.get(), [&](const StepReport& step) {
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
    });
    say(DoneLine{rank, fmt::format("{:016x}", digest)});
    return ExitCode::good;
  } catch (const Error& error) {
    say(FailureLine{rank, static_cast<int>(error.code()), error.what()});
    failure = error.code();
  } catch (const std::exception& error) {
    say(FailureLine{rank, static_cast<int>(ExitCode::internal), error.what()});
    failure = ExitCode::internal;
  }
  if (endpoint) {
    usleep(200'000);  // other ranks may be about to say who they wait for
    endpoint->abort(static_cast<int>(failure));
  }
  return failure;
}

extern const Verb kWorker;
constinit const Verb kWorker{
    .name = "worker",
    .summary = "one rank of a measured case; started by sweep and collective",
    .hidden = true,
    .run = [](const Call& call) { return run_worker(call, {}); },
};

}  // namespace hbench
