#include "bench/hosts/compare_hosts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr double kClockTolerance = 1;  ///< seconds
constexpr double kLeastShared = 64;    ///< MiB; Docker's default, with which NCCL fails
/// MiB; twice what du shows below /tmp while Open MPI 4.1.4 runs four ranks on a host: 8220 KiB.
constexpr double kLeastTemporary = 16;

/// A fact that hosts are compared by.
struct ComparedFact {
  std::string_view name;
  const char* cure;
  enum class Weight : std::uint8_t { obstacle, difference, noted } weight = Weight::difference;
};
using Weight = ComparedFact::Weight;

/// In the order of the table.
constexpr std::array kCompared{
    ComparedFact{host_fact::kProgram, "install the same hbench on all hosts, or run it from a shared folder",
                 Weight::obstacle},
    ComparedFact{"mpi_library", "install the same Open MPI on all hosts", Weight::obstacle},
    ComparedFact{"torch", "install the same LibTorch on all hosts"},
    ComparedFact{"cpu", "leave the host out: all ranks wait for the slowest"},
    ComparedFact{"cores", "leave the host out, or give it fewer slots"},
    ComparedFact{"memory", "leave the host out where the workload needs more", Weight::noted},
    ComparedFact{"gpu", "leave the host out: all ranks wait for the slowest"},
    ComparedFact{"gpu_driver", "install the same driver on all hosts"},
    ComparedFact{"gpu_clocks", "set the same clocks: nvidia-smi --lock-gpu-clocks, or --reset-gpu-clocks"},
    ComparedFact{"gpu_power_limit", "set the same limit: nvidia-smi --power-limit"},
    ComparedFact{"nccl", "install the same NCCL on all hosts"},
    ComparedFact{"cuda", "install the same CUDA on all hosts"},
    ComparedFact{host_fact::kGovernor, "set the same governor: cpupower frequency-set --governor performance"},
    ComparedFact{
        host_fact::kLosses,
        "leave the host out: with the same processor and LibTorch it computes wrongly; with others, compare alike "
        "hosts"},
    ComparedFact{"settings", "set the same variables on all hosts"},
    ComparedFact{"kernel", "install the same kernel", Weight::noted},
};

std::string value_of(const HostFacts& host, std::string_view fact) {
  const auto found = host.facts.find(std::string(fact));
  return found == host.facts.end() ? "" : found->second;
}

std::vector<const HostFacts*> that_answered(const std::vector<HostFacts>& hosts) {
  std::vector<const HostFacts*> answered;
  for (const HostFacts& host : hosts)
    if (host.failure.empty()) answered.push_back(&host);
  return answered;
}

/// Hosts by the value of a fact, in the order of the hosts.
using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

template <class Value>
Groups groups_by(const std::vector<const HostFacts*>& hosts, Value value) {
  Groups groups;
  for (const HostFacts* host : hosts) {
    std::string text = value(*host);
    const auto known = std::ranges::find(groups, text, &Groups::value_type::first);
    if (known != groups.end())
      known->second.push_back(host->name);
    else
      groups.push_back({std::move(text), {host->name}});
  }
  return groups;
}

std::string shown(const std::string& value) { return value.empty() ? "not there" : value; }

/// All but the largest group, the first of equally large ones, are odd.
void add_odd_ones(const Groups& groups, std::string_view fact, const ComparedFact& rule, HostProblems& problems) {
  if (groups.size() < 2) return;
  const auto most = std::ranges::max_element(groups, {}, [](const auto& group) { return group.second.size(); });
  for (const auto& group : groups) {
    if (&group == &*most) continue;
    for (const std::string& host : group.second)
      (rule.weight == Weight::obstacle ? problems.obstacles : problems.differences)
          .push_back({host,
                      fmt::format("{} is {}, and {} on {}", fact, shown(group.first), shown(most->first),
                                  fmt::join(most->second, ", ")),
                      rule.cure, rule.weight == Weight::noted});
  }
}

const HostAddress* address_in(const HostFacts& host, const std::string& subnet) {
  const auto found = std::ranges::find(host.addresses, subnet, &HostAddress::subnet);
  return found == host.addresses.end() ? nullptr : &*found;
}

bool is_bridge(const HostAddress& address) {
  return std::ranges::any_of(std::array<std::string_view, 5>{"docker", "virbr", "br-", "cni", "veth"},
                             [&](std::string_view begin) { return address.interface.starts_with(begin); });
}

std::string speed_text(int megabits) {
  if (megabits <= 0) return "unknown speed";
  return megabits % 1000 == 0 ? fmt::format("{} Gbit/s", megabits / 1000) : fmt::format("{} Mbit/s", megabits);
}

std::string network_of(const HostFacts& host, const std::string& subnet) {
  const HostAddress* address = address_in(host, subnet);
  return address == nullptr ? "" : fmt::format("MTU {}, {}", address->mtu, speed_text(address->speed));
}

/// Of a host's own number; `fallback` where it does not say.
double number_in(const HostFacts& host, std::string_view fact, double fallback) {
  const std::string text = value_of(host, fact);
  return text.empty() ? fallback : std::atof(text.c_str());
}

/// Of hosts where a launcher cannot write its files.
std::optional<Finding> full_folder(const HostFacts& host) {
  const double free = number_in(host, host_fact::kFreeTemporary, kLeastTemporary);
  if (free >= kLeastTemporary) return std::nullopt;
  return Finding{host.name, fmt::format("the folder for temporary files (TMPDIR, else /tmp) has {:.0f} MiB free", free),
                 fmt::format("give it {:.0f} MiB or more: a launcher keeps files of its ranks there", kLeastTemporary)};
}

void add_own_problems(const HostFacts& host, std::vector<Finding>& problems) {
  if (std::abs(host.clock_off) > kClockTolerance)
    problems.push_back(
        {host.name,
         fmt::format("its clock is {:.0f} s {}", std::abs(host.clock_off), host.clock_off > 0 ? "ahead" : "behind"),
         "set it by NTP (timedatectl set-ntp true)"});
  if (const double shared = number_in(host, host_fact::kFreeShared, kLeastShared); shared < kLeastShared)
    problems.push_back(
        {host.name, fmt::format("/dev/shm has {:.0f} MiB free", shared),
         fmt::format("give it {:.0f} MiB or more (containers: --shm-size, or a volume in memory)", kLeastShared)});
  if (const double users = number_in(host, host_fact::kGpuUsers, 0); users > 0)
    problems.push_back({host.name,
                        fmt::format("{} on its GPUs", counted(static_cast<std::int64_t>(users), "other program")),
                        "wait for them, or leave the host out (nvidia-smi says who it is)"});
  for (const HostAddress& address : host.addresses)
    if (address.errors > 0)
      problems.push_back({host.name, fmt::format("{} has had {} faulty frames", address.interface, address.errors),
                          fmt::format("look at cable and port: ethtool -S {}", address.interface), true});
}

/// A launcher that is given one machine by two names finds no room for its second half.
void add_named_twice(const std::vector<const HostFacts*>& hosts, std::vector<Finding>& obstacles) {
  for (const auto& [machine, names] :
       groups_by(hosts, [](const HostFacts& host) { return value_of(host, host_fact::kMachine); }))
    for (std::size_t i = 1; i < names.size() && !machine.empty(); ++i)
      obstacles.push_back({names[i], fmt::format("it is {} by another name", names.front()),
                           "name each machine once, with all of its slots"});
}

/// Hosts with less than half of the free memory of the one that has the most.
void add_full_hosts(const std::vector<const HostFacts*>& hosts, std::vector<Finding>& problems) {
  double most = 0;
  for (const HostFacts* host : hosts) most = std::max(most, number_in(*host, host_fact::kFreeMemory, 0));
  for (const HostFacts* host : hosts)
    if (const double free = number_in(*host, host_fact::kFreeMemory, most); free < most / 2)
      problems.push_back({host->name, fmt::format("{:.0f} MiB of memory are free, and {:.0f} elsewhere", free, most),
                          "see what else runs there (top), or leave the host out"});
}

}  // namespace

std::string common_network(const std::vector<HostFacts>& hosts) {
  const std::vector<const HostFacts*> answered = that_answered(hosts);
  if (answered.empty()) return "";
  const HostAddress* best = nullptr;
  for (const HostAddress& address : answered.front()->addresses) {
    const bool everywhere = std::ranges::all_of(
        answered, [&](const HostFacts* host) { return address_in(*host, address.subnet) != nullptr; });
    if (!everywhere || is_bridge(address)) continue;
    if (best == nullptr || address.speed > best->speed) best = &address;
  }
  return best == nullptr ? "" : best->subnet;
}

std::string network_in_words(const std::vector<HostFacts>& hosts, const std::string& subnet) {
  const std::vector<const HostFacts*> answered = that_answered(hosts);
  return answered.empty() ? "" : network_of(*answered.front(), subnet);
}

std::vector<Finding> unusable_hosts(const std::vector<HostFacts>& hosts) {
  std::vector<Finding> unusable;
  for (const HostFacts& host : hosts)
    if (!host.failure.empty())
      unusable.push_back(
          {host.name, host.failure, fmt::format("see to 'ssh {} true', or leave the host out", host.name)});
    else if (std::optional<Finding> full = full_folder(host))
      unusable.push_back(std::move(*full));
  return unusable;
}

HostProblems compare_hosts(const std::vector<HostFacts>& hosts) {
  HostProblems problems{.obstacles = unusable_hosts(hosts)};
  const std::vector<const HostFacts*> answered = that_answered(hosts);
  add_named_twice(answered, problems.obstacles);
  for (const ComparedFact& rule : kCompared)
    add_odd_ones(groups_by(answered, [&](const HostFacts& host) { return value_of(host, rule.name); }), rule.name, rule,
                 problems);
  const std::string network = common_network(hosts);
  if (network.empty() && answered.size() > 1)
    problems.differences.push_back({answered.front()->name, "it has no subnet that all other hosts have as well",
                                    "name the interface or subnet between them: --network-interface eth0"});
  if (!network.empty())
    add_odd_ones(groups_by(answered, [&](const HostFacts& host) { return network_of(host, network); }),
                 "network " + network, {"", "set the same MTU and speed: ip link, ethtool"}, problems);
  add_full_hosts(answered, problems.differences);
  for (const HostFacts* host : answered) add_own_problems(*host, problems.differences);
  return problems;
}

Table host_table(const std::vector<HostFacts>& hosts) {
  Table table{.caption = "Hosts", .columns = {"fact", "value"}};
  const std::vector<const HostFacts*> answered = that_answered(hosts);
  const auto add = [&](std::string_view fact, const Groups& groups) {
    if (groups.size() == 1 && groups.front().first.empty()) return;
    std::string text;
    for (const auto& [value, names] : groups)
      text += groups.size() == 1
                  ? value
                  : fmt::format("{}{}: {}", text.empty() ? "" : "; ", fmt::join(names, ", "), shown(value));
    table.rows.push_back({std::string(fact), text});
  };
  for (const ComparedFact& rule : kCompared)
    add(rule.name, groups_by(answered, [&](const HostFacts& host) { return value_of(host, rule.name); }));
  const std::string network = common_network(hosts);
  if (!network.empty())
    add("network " + network, groups_by(answered, [&](const HostFacts& host) { return network_of(host, network); }));
  return table;
}

}  // namespace hbench
