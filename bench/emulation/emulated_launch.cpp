#include "bench/emulation/emulated_launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "analysis/prediction/case_memory.hpp"
#include "analysis/records/emulation.hpp"
#include "analysis/records/machine_facts.hpp"
#include "analysis/trace/ledger.hpp"
#include "bench/emulation/namespaces.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/sweep/launch_log.hpp"
#include "bench/worker/protocol.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// This program, which makes the hosts and is called by the launcher to enter them.
std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// What runs a command behind it where these links are. Whatever ends this process, killed or not, the kernel takes the
/// tree of namespaces and with it all links and ranks. Without root, a user namespace gives the rights.
Words on_links(const EmulatedLinks& links, bool checked) {
  Words words{"setpriv", "--pdeathsig", "KILL", "unshare"};
  if (geteuid() != 0) words = words + Words{"--user", "--map-root-user"};
  return words + Words{"--net",        "--mount",     "--pid",   "--fork",       "--kill-child",
                       "--mount-proc", own_program(), "emulate", to_json(links), checked ? "checked" : "unchecked"};
}

/// Makes the hosts of two nodes at such rates, with nothing on them.
Spawn on_pair(EmulatedLinks pair, BytesPerSecond rate, bool checked) {
  pair.local_rate = rate;
  pair.node_rate = {rate, rate};
  Spawn spawn;
  spawn.argv = on_links(pair, checked) + Words{"true"};
  spawn.output_timeout = Seconds(20);
  return spawn;
}

std::vector<std::string> addresses_of(const EmulatedLinks& links) {
  std::vector<std::string> all;
  for (Rank rank = 0; rank < links.ranks(); ++rank) all.push_back(links.address(rank));
  return all;
}

/// Of Open MPI: how it starts its daemons on hosts, and by which transport ranks talk. Ranks share cores, and give way.
/// They connect before the first step: two that first talk to each other in a timed one would connect in it.
std::map<std::string, std::string> launcher_environment() {
  return {{"OMP_NUM_THREADS", "1"},
          {"OPENBLAS_NUM_THREADS", "1"},
          // A user is root in the namespaces, where Open MPI asks twice.
          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_plm_rsh_agent", own_program() + " emulate enter"},
          {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
          {"OMPI_MCA_pml", "ob1"},
          {"OMPI_MCA_btl", "tcp,self"},
          {"OMPI_MCA_mpi_preconnect_mpi", "1"},
          {"OMPI_MCA_mpi_yield_when_idle", "1"}};
}

/// Jobs do whole cycles of their plan.
int iterations_of(const WorkOrder& order, const TrainingStrategy& strategy) {
  const StepPlan plan = strategy.method.plan(strategy.overlap);
  const int cycle = plan.cycle();
  const auto whole = [cycle](int steps) { return (steps + cycle - 1) / cycle * cycle; };
  return plan.start() + whole(order.warmup_steps) + whole(order.steps) + whole(order.traced_steps);
}

/// Each step is stretched, and takes as long as a hundred: their number bounds a launch.
struct StepsAtMost {
  int warmup, timed;
};

/// Ranks that do not wait for each other begin together, which makes them meet at the same links: a step or two go by
/// before each has its own pace, and after that no two steps of a rank are alike.
StepsAtMost most_steps(const MethodChoice& method) {
  return method.in_lockstep() ? StepsAtMost{1, 1} : StepsAtMost{2, 8};
}

WorkOrder order_of(const EmulatedCase& emulated, const MeasureOptions& options) {
  const double dilation = emulated.cluster.dilation;
  const auto& [asked, strategy] = emulated.planned;
  WorkOrder order;
  order.asked = asked;
  const StepsAtMost most = most_steps(strategy.method);
  order.warmup_steps = std::min(options.warmup_steps, most.warmup);
  order.steps = std::min(options.steps, most.timed);
  order.traced_steps = std::min(options.traced_steps, 1);
  // A collective may take as long as the step, and both are only predicted.
  order.timeout = options.timeout + emulated.expected * (4 * dilation);
  EmulationOrder& own = order.emulation.emplace();
  own.replay = emulated.replay;
  own.replay.dilation = dilation;
  own.costs = emulated.cluster.costs;
  own.polling = emulated_polling(emulated.latency, dilation,
                                 {emulated.cluster.links.ranks(), options.host.cores, strategy.servers > 0});
  own.costs.noticed_late = own.polling;
  return order;
}

/// The times of steps in the cluster's time, and the raw ones beside them.
void divide_times(std::vector<Sample>& samples, double dilation) {
  std::vector<Sample> raw;
  for (Sample& sample : samples) {
    const bool is_step = sample.metric == "step_seconds";
    if (!is_step && sample.metric != metric::kWait) continue;
    if (is_step) {
      raw.push_back(sample);
      raw.back().metric = metric::kDilatedStep;
    }
    sample.value /= dilation;
  }
  std::ranges::move(raw, std::back_inserter(samples));
}

/// Why figures of these samples count for nothing; empty where they do.
/// Whether the check before a launch has found links that this machine cannot keep at their rates.
bool links_fell_short(const std::vector<Sample>& samples) {
  return std::ranges::any_of(samples, [](const Sample& sample) {
    return sample.metric == metric::kLinkLeast && sample.value < 1 - kLinkTolerance;
  });
}

std::string why_void(const std::vector<Sample>& samples, double dilation, const LoadWatch& watch) {
  for (const Sample& sample : samples) {
    if (sample.metric != metric::kEmulatedBusy || sample.value <= kMostBusy) continue;
    std::string cure = fmt::format("give a larger --dilation than {:g}", dilation);
    for (const MachineLoad& load : machine_loads({.samples = watch.samples(0)}))
      if (load.disturbed())
        cure = fmt::format("other processes took {:.1f} of {:.0f} cores: run it without them",
                           load.others + load.stolen, load.cores);
    return fmt::format(
        "void: the processors had nothing left to give for {:.0f} % of the time, and may for {:.0f}: what was timed is "
        "this machine; {}",
        100 * sample.value, 100 * kMostBusy, cure);
  }
  return {};
}

}  // namespace

Availability emulation_availability() {
  const char* const path = std::getenv("PATH");
  for (const char* program : {"ip", "tc", "unshare", "setpriv", "mpirun"})
    if (Availability there = program_availability(program, path != nullptr ? path : "",
                                                  "install it (Debian: iproute2, util-linux, openmpi-bin)");
        !there.available)
      return there;
  if (own_program().find(' ') != std::string::npos)
    return {
        false,
        fmt::format("the launcher cannot start '{}' on emulated hosts: there is a blank in its path", own_program()),
        "move hbench to a folder without blanks"};
  constexpr BytesPerSecond kAny(12.5e6);
  const Exit exit = run_process(on_pair({.node_of_rank = {0, 0, 1}, .stream_rate = kAny}, kAny, false));
  if (exit.code == 0) return {};
  std::string why = exit.error_tail.substr(0, exit.error_tail.find('\n'));
  return {false, fmt::format("hosts cannot be emulated here: {}", why),
          geteuid() == 0 ? "a container needs the right to make namespaces (CAP_SYS_ADMIN, CAP_NET_ADMIN)"
                         : "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"};
}

std::optional<BytesPerSecond> emulation_capacity() {
  constexpr double kBeyondAnyMachine = 1e12;
  double share = 0;
  Spawn spawn = on_pair({.node_of_rank = {0, 1}}, BytesPerSecond(kBeyondAnyMachine), true);
  spawn.on_line = [&](std::string_view text) {
    const auto line = parse_worker_line(text);
    if (const auto* samples = line ? std::get_if<SamplesLine>(&*line) : nullptr; samples != nullptr)
      share += samples->values.front();
  };
  run_process(spawn);
  if (share == 0) return std::nullopt;
  return BytesPerSecond(share * kBeyondAnyMachine);
}

LaunchOutcome emulate_launch(const EmulatedCase& emulated, const MeasureOptions& options, int launch) {
  const double dilation = emulated.cluster.dilation;
  const EmulatedLinks& links = emulated.cluster.links;
  const WorkOrder order = order_of(emulated, options);
  const RankStart start{
      .launcher = "mpirun",
      .processes = links.ranks(),
      .worker = {options.program, "worker", to_json(order)},
      .environment = launcher_environment(),
      // No rank says anything during a step.
      .timeout = order.timeout * 2 + kGrace,
      .host_of_rank = addresses_of(links),
      .network = kEmulatedSubnet,
      .before = on_links(links, emulated.faults.empty()),
  };
  LaunchLog log(launch, links.ranks());
  const LoadWatch load;
  const JobOutcome end = start_ranks(start, options.host, log.reports, [&](const WorkerLine& line) { log.note(line); });
  if (interrupted()) return {};
  if (end.code != ExitCode::good) return lost_launch(end.code, launch, end.reason, links_fell_short(log.samples));
  if (const std::string why = why_void(log.samples, dilation, load); !why.empty())
    return lost_launch(ExitCode::environment, launch, why, true);
  LaunchOutcome outcome{.samples = std::move(log.samples), .traced = log.traced_steps()};
  for (TracedStep& step : outcome.traced)
    for (Span& span : step.spans) span.begin = span.begin / dilation, span.end = span.end / dilation;
  divide_times(outcome.samples, dilation);
  outcome.samples.push_back(
      {.launch = launch, .metric = std::string(metric::kDilation), .value = dilation, .unit = "1"});
  for (const EmulatedFault& fault : emulated.faults) {
    const std::string text = to_text({fault});
    outcome.samples.push_back({.launch = launch,
                               .metric = std::string(metric::kEmulatedFault),
                               .value = fault.factor,
                               .unit = text.substr(0, text.rfind(':'))});
  }
  for (const TracedStep& step : outcome.traced)
    std::ranges::move(ledger_samples(step), std::back_inserter(outcome.samples));
  return outcome;
}

std::vector<EmulatedFault> emulated_faults() {
  const char* const variable = std::getenv("HBENCH_EMULATED_FAULT");
  return parse_emulated_faults(variable != nullptr ? variable : "");
}

Seconds emulated_launch_time(const EmulatedCase& emulated, const MeasureOptions& options) {
  const WorkOrder order = order_of(emulated, options);
  const int steps = iterations_of(order, emulated.planned.strategy);
  // Links, and processes that start one after the other on these cores.
  const Seconds start = Seconds(2) + Seconds(0.8 * emulated.cluster.links.ranks() / options.host.cores);
  return start + emulated.expected * (emulated.cluster.dilation * steps);
}

EmulatedCase emulated_case(const PlannedCase& planned, const Catalog& catalog, SimulatedRunner& simulated,
                           const EmulationOptions& options) {
  const Profile& profile = catalog.profiles.at(planned.asked.profile);
  const World world = planned.world(profile.gpus_per_domain());
  EmulatedCase emulated{.planned = planned,
                        .replay = {.timeline = timeline_of(planned, catalog),
                                   .straggler = profile.straggler,
                                   .overlap_slowdown = profile.overlap_slowdown},
                        .one_gpu = one_gpu(planned, catalog),
                        .memory = memory_of(planned, catalog)};
  ReplayRequest& replay = emulated.replay;
  const double dilation = options.dilation > 0
                              ? options.dilation
                              : choose_dilation({profile, world, replay.timeline, planned.strategy}, options.cores);
  emulated.cluster = emulated_cluster(profile, world, dilation, options.faults);
  emulated.stretches = options.dilation == 0;
  if (planned.strategy.method.goes_by_units()) replay.units = model_units(replay.timeline);
  for (const int node : emulated.cluster.links.node_of_rank)
    replay.slower.push_back(fault_factor(options.faults, EmulatedFault::Kind::node, node));
  emulated.expected = simulated.step(planned).times.step;
  emulated.latency = profile.network_latency;
  emulated.faults = options.faults;
  return emulated;
}

CaseResult emulate(EmulatedCase emulated, const MeasureOptions& options, const std::function<void(int)>& on_launch) {
  constexpr int kStretched = 2;
  int stretched = 0;
  CaseResult result = launch_all(emulated.planned, options.launches, [&](int launch) {
    MeasureOptions own = options;
    if (launch > 0) own.traced_steps = 0;  // one look is enough, and takes a step
    while (true) {
      on_launch(launch);
      LaunchOutcome outcome = emulate_launch(emulated, own, launch);
      if (!outcome.overloaded || !emulated.stretches || stretched == kStretched || interrupted()) return outcome;
      stretch(emulated.cluster, 2);
      ++stretched;
    }
  });
  result.samples.push_back(
      {.metric = "baseline_throughput", .value = emulated.replay.timeline.samples_per_second(), .unit = "samples/s"});
  add_other_batch(result, emulated.one_gpu);
  add_memory(result, emulated.memory);
  return result;
}

}  // namespace hbench
