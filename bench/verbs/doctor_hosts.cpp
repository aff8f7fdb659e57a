#include "bench/verbs/doctor_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "bench/command/inform.hpp"
#include "bench/doctor/diagnosis.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/hosts/slow_hosts.hpp"
#include "bench/hosts/slow_words.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/output/terminal.hpp"
#include "bench/worker/pair_rounds.hpp"

namespace hbench {
namespace {

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

}  // namespace

ExitCode examine_hosts(const HostDoctorOptions& options) {
  const Allocation hosts = allocation_of(options.hosts.named);
  if (!hosts.note.empty()) inform("hbench: {}\n", hosts.note);
  if (hosts.is_local())
    throw Error(ExitCode::usage, "--hosts: this is one machine, and nobody named others",
                "name them: -H a:4,b:4 or --hostfile FILE, or run it inside a job of several hosts");
  if (options.find_slow && hosts.hosts.size() < 2)
    throw Error(ExitCode::usage, "--find-slow compares hosts, and there is one", "name more: -H a:4,b:4");
  const std::string program = installation().worker.string();
  const Preflight preflight = look_at_hosts(hosts, program, options.hosts.network, this_host());
  std::vector<Finding> findings = findings_of(preflight);
  std::vector<Table> tables{host_table(preflight.hosts)};
  if (options.find_slow) add_speeds(hosts, program, preflight, findings, tables);
  fmt::print("{}", options.json ? doctor_json(findings, tables)
                                : terminal_text(doctor_document(findings, tables), options.wide));
  return problems_among(findings) == 0 ? ExitCode::good : ExitCode::environment;
}

}  // namespace hbench
