#include "bench/verbs/doctor_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/doctor/diagnosis.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/installation.hpp"
#include "bench/output/terminal.hpp"

namespace hbench {
namespace {

/// All hosts, each with what is wrong of it.
std::vector<Finding> findings_of(const Preflight& preflight) {
  std::vector<Finding> findings = preflight.problems.obstacles;
  const std::vector<Finding>& differences = preflight.problems.differences;
  findings.insert(findings.end(), differences.begin(), differences.end());
  for (const HostReport& host : preflight.hosts) {
    const auto same = [&](const Finding& finding) { return finding.what == host.host; };
    if (std::ranges::none_of(findings, same)) findings.push_back({host.host, "answers, and is as the others", ""});
  }
  if (preflight.problems.obstacles.empty() && preflight.hosts.size() > 1)
    findings.push_back({"network", fmt::format("{}: each host reaches each other", preflight.network), ""});
  return findings;
}

}  // namespace

ExitCode examine_hosts(const HostDoctorOptions& options) {
  const Allocation hosts = allocation_of(options.hosts.named);
  if (hosts.is_local())
    throw Error(ExitCode::usage, "--hosts: this is one machine, and nobody named others",
                "name them: -H a:4,b:4 or --hostfile FILE, or run it inside a job of several hosts");
  const Preflight preflight = look_at_hosts(hosts, installation().worker.string(), options.hosts.network, this_host());
  const std::vector<Finding> findings = findings_of(preflight);
  const std::vector<Table> facts{host_table(preflight.hosts)};
  fmt::print("{}", options.json ? doctor_json(findings, facts)
                                : terminal_text(doctor_document(findings, facts), options.wide));
  return problems_among(findings) == 0 ? ExitCode::good : ExitCode::environment;
}

}  // namespace hbench
