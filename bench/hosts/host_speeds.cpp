#include "bench/hosts/host_speeds.hpp"

#include <algorithm>
#include <variant>

#include "bench/doctor/environment.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/worker/pair_rounds.hpp"

namespace hbench {
namespace {

int pairs_measured(int hosts) {
  int pairs = 0;
  for (int round = 0; round < pair_rounds(hosts); ++round)
    for (int host = 0; host < hosts; ++host) pairs += partner_of(host, round, hosts).value_or(-1) > host ? 1 : 0;
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

}  // namespace

HostSpeeds measure_speeds(const Allocation& allocation, const std::string& program, const std::string& network,
                          const Host& here) {
  HostSpeeds speeds;
  for (const AllocatedHost& host : allocation.hosts) speeds.hosts.push_back(host.name);
  const ProbeOrder order = order_for(allocation);
  // Ranks that wait for a hung one say so before they are stopped.
  const RankStart start{.launcher = allocation.launcher,
                        .processes = order.ranks,
                        .worker = {program, "worker", to_json(order)},
                        .environment = {},
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

}  // namespace hbench
