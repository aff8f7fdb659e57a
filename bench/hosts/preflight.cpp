#include "bench/hosts/preflight.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/records/machine_facts.hpp"
#include "bench/launch/start_ranks.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr Seconds kAnswer{15}, kReach{6};

HostFacts report_of(const HostAnswer& answer) {
  HostFacts host;
  const std::string* line = answer.json_line();
  if (line == nullptr)
    host.failure = answer.failure.empty() ? "hbench-worker said nothing there" : answer.failure;
  else
    try {
      host = parse_host_facts(*line);
      host.clock_off = host.clock - answer.at;
    } catch (const Error& error) {
      host.failure = error.what();
    }
  host.name = answer.host;
  return host;
}

std::vector<HostFacts> reports_of(const std::vector<HostAnswer>& answers) {
  std::vector<HostFacts> reports;
  for (const HostAnswer& answer : answers) reports.push_back(report_of(answer));
  return reports;
}

/// Which hosts do not reach which.
std::vector<Finding> unreached(const Allocation& allocation, const HostQuestion& facts, const Host& here) {
  HostQuestion question = facts;
  question.timeout = kAnswer + kReach;
  // Ports and secret of this one check.
  question.program = {facts.program.front(), "reach", std::to_string(std::random_device()())};
  for (const AllocatedHost& host : allocation.hosts) question.program.push_back(host.name);
  std::vector<Finding> findings;
  for (const HostAnswer& answer : ask_hosts(allocation, question, here)) {
    const std::string* line = answer.json_line();
    if (line == nullptr) {
      findings.push_back({answer.host, answer.failure, "see to 'ssh " + answer.host + " true'"});
      continue;
    }
    const auto object = read_json(*line);
    const auto hosts =
        object.is_object() ? object.value("unreached", std::vector<std::string>()) : std::vector<std::string>();
    if (!hosts.empty())
      findings.push_back({answer.host,
                          fmt::format("it opens no TCP connection to {} on a high port", fmt::join(hosts, ", ")),
                          "let the firewall pass all ports between hosts, or give another --network-interface"});
  }
  return findings;
}

}  // namespace

std::array<Option*, 5> add_host_options(Arguments& app, HostOptions& options) {
  Option* hosts = app.add_option("-H,--host", options.named.hosts,
                                 "hosts with their slots: a:4,b:4 (default: those of the job around it, of Slurm, "
                                 "LSF, PBS, Cobalt, Grid Engine, Flux, an MPIJob, Spark, SkyPilot, SageMaker, dstack "
                                 "or Azure Batch, else this machine)");
  Option* file =
      app.add_option("--hostfile", options.named.hostfile, "the same from a file: a line 'a slots=4' for each host");
  file->excludes(hosts);
  Option* network = app.add_option("--network-interface", options.network,
                                   "network between hosts: an interface (eth0) or a subnet (10.0.0.0/24)");
  Option* launcher = app.add_option("--launcher", options.named.launcher,
                                    "what starts ranks on hosts: mpirun, or srun in a Slurm job whose site forbids it",
                                    one_of({"mpirun", "srun"}));
  Option* expected =
      app.add_option(kExpectHostsFlag, options.named.expected,
                     "end before the first case where there are fewer hosts, as when a job's list of hosts got lost",
                     in_range(1, 1'000'000));
  return {hosts, file, network, launcher, expected};
}

Preflight look_at_hosts(const Allocation& allocation, const std::string& program, const std::string& network,
                        const Host& here, bool train) {
  Preflight preflight;
  preflight.network = network;
  HostQuestion question{.program = {program, "host"}, .network = network, .timeout = kAnswer};
  if (train) question.program.emplace_back("train");
  preflight.hosts = reports_of(ask_hosts(allocation, question, here));
  if (preflight.network.empty()) preflight.network = common_network(preflight.hosts);
  preflight.problems = compare_hosts(preflight.hosts);
  if (preflight.problems.obstacles.empty() && allocation.hosts.size() > 1) {
    question.network = preflight.network;
    preflight.problems.obstacles = unreached(allocation, question, here);
  }
  return preflight;
}

Error cannot_run(const Preflight& preflight) {
  std::string text;
  for (const Finding& finding : preflight.problems.obstacles)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", finding.what, finding.state);
  return {ExitCode::environment, text, preflight.problems.obstacles.front().cure};
}

void require_gpus_for_slots(const Allocation& allocation, const std::vector<HostFacts>& hosts, int processes_per_gpu) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const int slots = allocation.hosts[i].slots, gpus = hosts[i].training.gpus;
    if (slots > gpus * processes_per_gpu)
      throw Error(ExitCode::environment,
                  fmt::format("{} has {} and {}", hosts[i].name, counted(slots, "slot"), counted(gpus, "GPU")),
                  fmt::format("give it {}, or let ranks share GPUs with --oversubscribe {}",
                              counted(gpus * processes_per_gpu, "slot"), allocation.slots()));
  }
}

std::map<std::string, std::string> environment_of(const Preflight& preflight) {
  std::map<std::string, std::string> facts = preflight.hosts.front().facts;
  for (const std::string_view only_here :
       {host_fact::kProgram, host_fact::kMachine, host_fact::kGovernor, host_fact::kFreeMemory, host_fact::kFreeShared,
        host_fact::kFreeTemporary, host_fact::kGpuUsers})
    facts.erase(std::string(only_here));
  std::vector<std::string> names;
  for (const HostFacts& host : preflight.hosts) names.push_back(host.name);
  facts[std::string(kHostsFact)] = fmt::format("{}", fmt::join(names, ", "));
  if (!preflight.network.empty()) facts["hosts_network"] = network_in_words(preflight.hosts, preflight.network);
  return facts;
}

std::vector<Finding> lost_hosts(const Allocation& allocation, const std::string& program, const std::string& network,
                                const Host& here) {
  const HostQuestion question{.program = {program, "host"}, .network = network, .timeout = kAnswer};
  return unusable_hosts(reports_of(ask_hosts(allocation, question, here)));
}

}  // namespace hbench
