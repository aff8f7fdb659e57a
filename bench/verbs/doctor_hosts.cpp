#include "bench/verbs/doctor_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bench/doctor/diagnosis.hpp"
#include "bench/hosts/host_speeds.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/hosts/slow_words.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/terminal.hpp"

namespace hbench {
namespace {

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
  if (!hosts.note.empty()) fmt::print(stderr, "hbench: {}\n", hosts.note);
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
