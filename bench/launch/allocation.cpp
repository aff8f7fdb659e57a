#include "bench/launch/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Hosts in a sentence.
constexpr std::size_t kShownHosts = 16;

[[noreturn]] void refuse_few_hosts(const Allocation& allocation, int expected) {
  const std::string why = !allocation.note.empty() ? "; " + allocation.note
                          : allocation.is_local()  ? "; looked at " + variables_with_hosts()
                                                   : "";
  throw Error(ExitCode::environment,
              fmt::format("--expect-hosts {}: the job has {}{}", expected,
                          allocation.is_local() ? "this machine alone" : allocation.in_words(), why),
              "see why the engine's list of hosts does not reach this command, or name them with -H or --hostfile");
}

bool is_this_machine(const std::string& name) {
  return name == "localhost" || short_host_name(name) == short_host_name(own_host_name());
}

/// Returns the number of ranks on node `node`: its share of the workers, and every `ranks.nodes`-th server.
int ranks_on(const RankCount& ranks, int node) {
  return ranks.workers / ranks.nodes + ranks.servers / ranks.nodes + (node < ranks.servers % ranks.nodes ? 1 : 0);
}

}  // namespace

int Allocation::slots() const {
  return std::accumulate(hosts.begin(), hosts.end(), 0,
                         [](int sum, const AllocatedHost& host) { return sum + host.slots; });
}

std::string Allocation::in_words() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(hosts.size(), kShownHosts); ++i)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", hosts[i].name, hosts[i].slots);
  if (hosts.size() > kShownHosts) text += fmt::format(" and {} more", hosts.size() - kShownHosts);
  return origin == "-H" ? fmt::format("-H {}", text) : fmt::format("{} ({})", text, origin);
}

std::string flux_hosts() {
  std::string hosts;
  const Exit exit = run_process({.argv = {"flux", "hostlist", "--expand", "--delimiter=,", "local"},
                                 .environment = {},
                                 .on_line = [&](std::string_view line) { hosts = line; },
                                 .input = "",
                                 .output_timeout = Seconds(10)});
  return exit.code == 0 ? hosts : "";
}

Allocation allocation_of(const HostFlags& flags, const ReadVariable& variable,
                         const std::function<std::string()>& ask_flux) {
  if (!flags.hosts.empty() && !flags.hostfile.empty())
    throw Error(ExitCode::usage, "-H and --hostfile both name hosts", "give one of them");
  Allocation allocation;
  if (!flags.hosts.empty()) {
    allocation = parse_host_list(flags.hosts);
  } else if (!flags.hostfile.empty()) {
    allocation = parse_hostfile(read_file(flags.hostfile), flags.hostfile.string());
  } else {
    allocation = surrounding_job(variable, ask_flux);
    if (allocation.hosts.size() == 1 && is_this_machine(allocation.hosts.front().name)) allocation.hosts.clear();
  }
  allocation.launcher = flags.launcher;
  if (std::max<std::ptrdiff_t>(1, std::ssize(allocation.hosts)) < flags.expected)
    refuse_few_hosts(allocation, flags.expected);
  return allocation;
}

RankPlaces place_ranks(const Allocation& allocation, const RankCount& ranks) {
  if (ranks.workers % ranks.nodes != 0)
    return {{}, fmt::format("{} ranks are not equally many on {} nodes", ranks.workers, ranks.nodes)};
  if (allocation.is_local()) {
    if (ranks.nodes > 1) return {{}, "this is one machine; name hosts with -H or --hostfile"};
    return {};
  }
  std::vector<const AllocatedHost*> chosen;
  for (const AllocatedHost& host : allocation.hosts)
    if (std::ssize(chosen) < ranks.nodes && host.slots >= ranks_on(ranks, static_cast<int>(chosen.size())))
      chosen.push_back(&host);
  if (std::ssize(chosen) < ranks.nodes)
    return {{},
            fmt::format("{} with {} each are needed, of {}", counted(ranks.nodes, "host"),
                        counted(ranks_on(ranks, 0), "slot"), allocation.in_words())};
  RankPlaces places;
  for (int rank = 0; rank < ranks.workers; ++rank)
    places.host_of_rank.push_back(chosen[static_cast<std::size_t>(rank / (ranks.workers / ranks.nodes))]->name);
  for (int server = 0; server < ranks.servers; ++server)
    places.host_of_rank.push_back(chosen[static_cast<std::size_t>(server % ranks.nodes)]->name);
  return places;
}

int fewest_nodes(const Allocation& allocation, int workers) {
  for (int nodes = 1; nodes <= std::ssize(allocation.hosts); ++nodes)
    if (workers % nodes == 0 && place_ranks(allocation, {.workers = workers, .nodes = nodes}).refusal.empty())
      return nodes;
  return 0;
}

}  // namespace hbench
