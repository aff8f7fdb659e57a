#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <variant>

#include "analysis/prediction/case_memory.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/program.hpp"
#include "bench/doctor/diagnosis.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/doctor/gpu_findings.hpp"
#include "bench/emulation/emulated_launch.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/hosts/slow_hosts.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/output/document_output.hpp"
#include "bench/worker/speed_probe.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

/// What `hbench doctor --hosts` was asked for.
struct HostDoctorOptions {
  HostOptions hosts;
  bool find_slow = false;  ///< measures them as well
  bool train = false;      ///< and compares the losses of a training
  DocumentOutput output;
};

int pairs_measured(int hosts) {
  int pairs = 0;
  for (int round = 0; round < pair_rounds(hosts); ++round)
    for (int host = 0; host < hosts; ++host) pairs += paired_host(host, round, hosts).value_or(-1) > host ? 1 : 0;
  return pairs;
}

ProbeOrder order_for(const Allocation& allocation) {
  const auto hosts = static_cast<int>(allocation.hosts.size());
  const auto fewest = std::ranges::min_element(allocation.hosts, {}, &AllocatedHost::slots);
  return {.ranks = hosts,
          .passes = passes_needed(hosts, pairs_measured(hosts)),
          .threads = fewest->slots,
          .delay = test_delay()};
}

void add(HostSpeeds& speeds, const SpeedLine& line) {
  if (line.peer)
    speeds.links.push_back({line.rank, *line.peer, line.values});
  else
    speeds.computed.push_back(line.values);
}

/// Lets all hosts compute, and exchange bytes in pairs, in one job with a rank on each: some seconds. As many cores of
/// each host compute as the host with the fewest slots has. \param program hbench-worker, as hosts find it. \param
/// network as `Job::network`. \throws Error (environment) without a launcher, or that of the job where it fails.
HostSpeeds measure_speeds(const Allocation& allocation, const std::string& program, const std::string& network,
                          const Host& here) {
  HostSpeeds speeds;
  for (const AllocatedHost& host : allocation.hosts) speeds.hosts.push_back(host.name);
  const ProbeOrder order = order_for(allocation);
  // Ranks that wait for a hung one say so before they are stopped.
  const RankStart start{.launcher = allocation.launcher,
                        .processes = order.ranks,
                        .worker = {program, "worker", to_json(order)},
                        .timeout = order.timeout * 2 + kGrace,
                        .host_of_rank = speeds.hosts,
                        .network = network};
  RankReports reports;
  const JobOutcome end = start_ranks(start, here, reports, [&](const WorkerLine& line) {
    if (const auto* speed = std::get_if<SpeedLine>(&line)) add(speeds, *speed);
    reports.complete = reports.complete || std::holds_alternative<DoneLine>(line);
  });
  if (end.code != ExitCode::good)
    throw Error(end.code, "the speed of hosts is not measured: " + end.reason,
                "see to the host that it names, or leave it out");
  return speeds;
}

/// All hosts, each with what is wrong of it.
std::vector<Finding> findings_of(const Preflight& preflight) {
  std::vector<Finding> findings = preflight.problems.obstacles;
  const std::vector<Finding>& differences = preflight.problems.differences;
  findings.insert(findings.end(), differences.begin(), differences.end());
  for (const HostFacts& host : preflight.hosts) {
    const auto same = [&](const Finding& finding) { return finding.what == host.name; };
    if (std::ranges::none_of(findings, same)) findings.push_back({host.name, "answers, and is as the others", ""});
  }
  if (preflight.problems.obstacles.empty() && preflight.hosts.size() > 1)
    findings.push_back({"network", fmt::format("{}: each host reaches each other", preflight.network), ""});
  return findings;
}

/// Measures hosts on which a job can run.
void add_speeds(const Allocation& hosts, const std::string& program, const Preflight& preflight,
                std::vector<Finding>& findings, std::vector<Table>& tables) {
  if (!preflight.problems.obstacles.empty()) {
    findings.push_back({"speed", "not measured: no job runs on these hosts", "see to them first"});
    return;
  }
  const HostSpeeds speeds = measure_speeds(hosts, program, preflight.network, this_host());
  std::ranges::move(slow_findings(speeds), std::back_inserter(findings));
  std::ranges::move(speed_tables(speeds), std::back_inserter(tables));
}

Finding cores() {
  const int count = available_cores();
  return {"CPU cores", std::to_string(count),
          count > 1 ? "" : "one core measures one rank; --oversubscribe N measures more, slowly"};
}

/// GFLOP/s of one core, from a training step of known size. Counted in processor time: a core that other processes
/// share is not a slow one.
Finding blas() {
  if (!torch_availability().available) return {"LibTorch speed", "not measured: no LibTorch", ""};
  // ResNet-18 at 64 x 64: 0.149 G multiply-adds forward, twice that backward, two operations each.
  constexpr double kOperationsPerImage = 2 * 3 * 0.149e9;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t used = std::clock();
  const StepTimeline step = record_timeline({.model = "resnet18", .steps = 3});
  const double processor = static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC;
  const double share = std::min(1.0, processor / seconds_since(begin));
  const double gflops = step.samples_per_second() * kOperationsPerImage / 1e9 / share;
  const std::string others = share < 0.9 ? fmt::format("; other processes took {:.0f} % of it", 100 * (1 - share)) : "";
  return {
      "LibTorch speed", fmt::format("{:.0f} GFLOP/s on one core (training ResNet-18){}", gflops, others),
      gflops > 10 ? "" : "a core should reach 20 or more; install an optimised BLAS (Debian: libopenblas0-pthread)"};
}

/// Whether `sweep --evidence emulated` works, and what it can carry.
Finding emulation() {
  Finding finding = finding_of("emulation", emulation_availability(), "available");
  finding.optional = true;
  if (!finding.cure.empty()) return finding;
  const std::optional<BytesPerSecond> capacity = emulation_capacity();
  if (!capacity) return finding;
  // The most ranks whose gradients fit, of ResNet-50's size.
  const StepTimeline resnet50 = load_data().traces.load("resnet50").timeline;
  const StepPlan synchronous = parse_method("synchronous").plan(true);
  int ranks = 2;
  while (ranks < 250 && refuse_emulated_memory(ranks + 1, resnet50, synchronous, available_memory()).empty()) ++ranks;
  finding.state = fmt::format(
      "available: hosts send {} together, so a cluster's rates are divided until its ranks do; memory holds {} ranks "
      "of "
      "ResNet-50",
      format(*capacity), ranks);
  return finding;
}

/// Trains twice, and returns whether the losses are the same to the last bit.
Finding training() {
  if (!torch_availability().available) return {"training", "not tried: no LibTorch", ""};
  const std::uint64_t once = loss_fingerprint();
  return finding_of_losses(once, loss_fingerprint());
}

Finding space() {
  std::error_code status;
  const auto room = std::filesystem::space(".", status);
  const double gib = status ? 0 : static_cast<double>(room.available) / 0x1p30;
  return {"disk here", fmt::format("{:.1f} GiB free", gib), gib > 0.1 ? "" : "results and reports need some 10 MB"};
}

/// Compares hosts and prints what differs, the odd one out by name, and who is slow. `good` where nothing is wrong,
/// else `environment`. \throws Error (usage) where no hosts are given, or one alone is to be compared by its speed; as
/// `measure_speeds`.
ExitCode examine_hosts(const HostDoctorOptions& options) {
  const Allocation hosts = allocation_of(options.hosts.named);
  if (!hosts.note.empty()) inform("hbench: {}\n", hosts.note);
  if (hosts.is_local())
    throw Error(ExitCode::usage, "--hosts: this is one machine, and nobody named others",
                "name them: -H a:4,b:4 or --hostfile FILE, or run it inside a job of several hosts");
  if (options.find_slow && hosts.hosts.size() < 2)
    throw Error(ExitCode::usage, "--find-slow compares hosts, and there is one", "name more: -H a:4,b:4");
  const std::string program = installation().worker.string();
  const Preflight preflight = look_at_hosts(hosts, program, options.hosts.network, this_host(), options.train);
  std::vector<Finding> findings = findings_of(preflight);
  std::vector<Table> tables{host_table(preflight.hosts)};
  if (options.find_slow) add_speeds(hosts, program, preflight, findings, tables);
  options.output.deliver(doctor_document(findings, tables), [&] { return doctor_json(findings, tables); });
  return problems_among(findings) == 0 ? ExitCode::good : ExitCode::environment;
}

ExitCode run_doctor(const Call& call) {
  Arguments app("Looks at this machine and says what hbench can do on it, and what is wrong.", "hbench doctor");
  bool hosts = false;
  HostDoctorOptions several;
  app.footer(
      "Examples:\n  hbench doctor\n  hbench doctor --json > machine.json\n  hbench doctor --hosts -H a:4,b:4\n"
      "  hbench doctor --hosts --find-slow -H a:4,b:4,c:4\n  hbench doctor --train\n  sbatch --nodes 4 --wrap 'hbench "
      "doctor --hosts'");
  Option* compare = app.add_flag("--hosts", hosts,
                                 "compare the hosts of -H, --hostfile or the job around it, and name the odd one out");
  app.add_flag("--find-slow", several.find_slow,
               "measure them too, some seconds: name the host that computes or sends slowly, or the slow link (one "
               "core for each slot, and pairs over TCP; no GPUs)")
      ->needs(compare);
  app.add_flag("--train", several.train,
               "train a small model twice and see that its losses are the same to the bit; with --hosts, on each of "
               "them once");
  for (Option* option : add_host_options(app, several.hosts)) option->needs(compare);
  several.output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  several.output.check();
  if (hosts) return examine_hosts(several);
  const std::string path = this_host().path;
  std::vector<Finding> findings{cores(), finding_of("LibTorch", torch_availability(), "built in")};
  findings.push_back(finding_of("training on GPUs", gpu_training_availability(), "available"));
  findings.back().optional = true;
  for (const ExecutorKind* executor : executors()) {
    findings.push_back(finding_of(fmt::format("executor {}", executor->name), executor->availability(), "available"));
    findings.back().optional = executor->on_gpu;
  }
  for (const Launcher* launcher : launchers()) {
    findings.push_back(
        finding_of(fmt::format("launcher {}", launcher->name), launcher->availability(path), "available"));
    findings.back().optional = launcher->optional;
  }
  findings.push_back(on_path("gnuplot", path) ? Finding{"gnuplot", "available", ""}
                                              : Finding{"gnuplot", "not on the PATH: reports lack SVG and PNG charts",
                                                        "install gnuplot (Debian: gnuplot-nox)"});
  const Machine machine = machine_here();
  std::ranges::move(gpu_findings(machine), std::back_inserter(findings));
  findings.push_back(emulation());
  findings.push_back(space());
  const Data data = load_data();
  findings.push_back(
      {"data", fmt::format("{} profiles, {} timelines", data.profiles.names().size(), data.traces.names().size()), ""});
  findings.push_back(blas());
  if (several.train) findings.push_back(training());
  const int problems = problems_among(findings);
  const std::vector<Table> tables = topology_tables(machine);
  several.output.deliver(doctor_document(findings, tables), [&] { return doctor_json(findings, tables); });
  return problems == 0 ? ExitCode::good : ExitCode::environment;
}

}  // namespace

extern const Verb kDoctor;
constinit const Verb kDoctor{
    .name = "doctor",
    .summary = "look at this machine and say what is missing",
    .place = 19,
    .libraries = [](const Call&) { return Libraries::all; },
    .run = run_doctor,
};

}  // namespace hbench
