#include "bench/verbs/worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>

#include "bench/hosts/host_facts.hpp"
#include "bench/worker/collective.hpp"
#include "bench/worker/protocol.hpp"
#include "bench/worker/rank_resources.hpp"
#include "bench/worker/speed_probe.hpp"
#include "bench/worker/training.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/text.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

/// The rank of a host in `hbench doctor --hosts --find-slow`: what `hbench-worker worker` does with a probe's order.
/// The exit code; a rank that fails has said why.
ExitCode run_probe_worker(const ProbeOrder& order, const Say& say) {
  const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints(order.timeout);
  Endpoint& home = endpoints->home();
  const ProbeReport report{.pass_begins =
                               [&](int pass) {
                                 say(WorkingLine{0, pass});
                               },
                           .computed =
                               [&](Rank rank, const std::vector<double>& speeds) {
                                 say(SpeedLine{rank, std::nullopt, speeds});
                               },
                           .exchanged =
                               [&](Rank a, Rank b, const std::vector<double>& rates) {
                                 say(SpeedLine{a, b, rates});
                               }};
  return run_rank(&home, say, [&] {
    require_ranks(home.transport(), order.ranks);
    probe_speeds(home.control(), order, report);
    if (home.transport().rank() == 0) say(DoneLine{0, ""});
  });
}

/// One write per line, so that lines of several ranks do not mix.
void say(const WorkerLine& line) {
  const std::string text = to_json(line) + "\n";
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
}

constexpr auto kAllLibraries = [](const Call&) { return Libraries::all; };

constexpr Verb kWorker{
    .name = "worker",
    .summary = "one rank of a measured case; started by sweep, collective and doctor --hosts",
    .hidden = true,
    .run = [](const Call& call) { return run_worker(call, {}); },
};

constexpr Verb kFacts{
    .name = "facts",
    .summary = "what hbench wants to know of the libraries of ranks, as JSON",
    .hidden = true,
    .libraries = kAllLibraries,
    .run =
        [](const Call&) {
          fmt::print("{}\n", to_json(own_facts()));
          return ExitCode::good;
        },
};

constexpr Verb kHost{
    .name = "host",
    .summary = "what this host says of itself, as JSON",
    .hidden = true,
    .libraries = kAllLibraries,
    .run =
        [](const Call& call) {
          HostFacts facts = own_host_facts();
          if (call.arguments == std::vector<std::string>{"train"} && torch_availability().available)
            facts.facts[std::string(host_fact::kLosses)] = fmt::format("{:016x}", loss_fingerprint());
          fmt::print("{}\n", to_json(facts));
          return ExitCode::good;
        },
};

/// TOKEN HOST...: all hosts, of which this is one.
ExitCode run_reach(const Call& call) {
  const auto token = parse_number<std::uint64_t>(call.arguments.empty() ? "" : call.arguments.front());
  if (!token) throw Error(ExitCode::usage, "no token of a check", "internal verb: hbench doctor --hosts calls it");
  const std::string own = own_host_name();
  std::vector<std::string> others(call.arguments.begin() + 1, call.arguments.end());
  std::erase_if(others, [&](const std::string& name) { return short_host_name(name) == short_host_name(own); });
  fmt::print("{}\n", unreached_json(unreached_hosts(others, *token, Seconds(6))));
  return ExitCode::good;
}

constexpr Verb kReach{
    .name = "reach",
    .summary = "which other hosts this host reaches, as JSON",
    .hidden = true,
    .run = run_reach,
};

constexpr std::array kWorkerVerbs{&kWorker, &kFacts, &kHost, &kReach};

}  // namespace

WorkerFacts own_facts() {
  return {.torch = torch_facts(),
          .mpi = mpi_library(),
          .nccl = nccl_version(),
          .gpu_training = gpu_training_availability()};
}

ExitCode run_worker(const Call& call, const PeerSet& peers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives its launcher
  if (call.arguments.size() != 1)
    throw Error(ExitCode::usage, "internal verb: workers are started by hbench", "hbench --help lists the verbs");
  if (const auto collectives = parse_collective_order(call.arguments.front()))
    return run_collective_worker(*collectives, peers, say);
  if (const auto probe = parse_probe_order(call.arguments.front())) return run_probe_worker(*probe, say);
  const WorkOrder order = parse_work_order(call.arguments.front());
  return order.emulation ? run_emulated_worker(order, say) : run_training_worker(order, say);
}

std::vector<const Verb*> all_verbs() {
  std::vector<const Verb*> all(verbs().begin(), verbs().end());
  all.insert(all.end(), inner_verbs().begin(), inner_verbs().end());
  all.insert(all.end(), kWorkerVerbs.begin(), kWorkerVerbs.end());
  return all;
}

}  // namespace hbench
