#include "bench/doctor/host_topology.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

/// The number that a text begins with.
std::optional<std::int64_t> number_in(const std::string& text) {
  const auto leading = parse_leading_number<std::int64_t>(text);
  return leading ? std::optional(leading->first) : std::nullopt;
}

/// A file that says -1 says that it does not know.
std::optional<std::int64_t> positive_in(const fs::path& file) {
  const auto number = number_in(first_line(file));
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int> node_in(const fs::path& file) {
  const auto number = positive_in(file);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) entries.push_back(at->path());
  std::ranges::sort(entries);
  return entries;
}

/// `Node 0 MemTotal:       97850000 kB`
std::optional<std::int64_t> memory_of(const fs::path& node) {
  std::ifstream in(node / "meminfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find("MemTotal:");
    if (begin == std::string::npos) continue;
    const auto kib = number_in(line.substr(std::min(line.find_first_of("0123456789", begin), line.size())));
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<NumaNode> numa_nodes(const fs::path& root) {
  std::vector<NumaNode> nodes;
  for (const fs::path& each : entries_of(root / "sys/devices/system/node")) {
    const std::string name = each.filename().string();
    if (!name.starts_with("node")) continue;
    if (const auto node = number_in(name.substr(4)))
      nodes.push_back({static_cast<int>(*node), first_line(each / "cpulist"), memory_of(each)});
  }
  std::ranges::sort(nodes, {}, &NumaNode::node);
  return nodes;
}

BytesPerSecond bits(double per_second) { return BytesPerSecond(per_second / 8); }

/// `400 Gb/sec (4X NDR)`
std::optional<BytesPerSecond> rate_of(const fs::path& port) {
  const auto gigabits = number_in(first_line(port / "rate"));
  return gigabits ? std::optional(bits(static_cast<double>(*gigabits) * 1e9)) : std::nullopt;
}

/// RDMA cards; `under` takes in the Ethernet interfaces that they have too.
std::vector<NetworkPort> rdma_ports(const fs::path& root, std::set<std::string>& under) {
  std::vector<NetworkPort> ports;
  for (const fs::path& card : entries_of(root / "sys/class/infiniband")) {
    const std::vector<fs::path> each_port = entries_of(card / "ports");
    for (const fs::path& port : each_port)
      ports.push_back(
          {.name = card.filename().string() + (each_port.size() > 1 ? ":" + port.filename().string() : std::string()),
           .kind = first_line(port / "link_layer") == "Ethernet" ? "RoCE" : "InfiniBand",
           .up = first_line(port / "state").starts_with("4"),  // 4: ACTIVE
           .speed = rate_of(port),
           .numa = node_in(card / "device/numa_node")});
    for (const fs::path& interface : entries_of(card / "device/net")) under.insert(interface.filename().string());
  }
  return ports;
}

/// A card's device has a bus address in its link, which virtual interfaces lack; a paravirtual one's is its parent's.
std::optional<int> node_of(const fs::path& interface) {
  const auto node = node_in(interface / "device/numa_node");
  return node ? node : node_in(interface / "device/../numa_node");
}

std::vector<NetworkPort> ethernet_ports(const fs::path& root, const std::set<std::string>& under) {
  std::vector<NetworkPort> ports;
  for (const fs::path& interface : entries_of(root / "sys/class/net")) {
    const std::string name = interface.filename().string();
    std::error_code ignored;
    if (under.contains(name) || !fs::exists(interface / "device", ignored)) continue;
    const auto megabits = positive_in(interface / "speed");
    ports.push_back({.name = name,
                     .kind = "Ethernet",
                     .up = first_line(interface / "operstate") == "up",
                     .speed = megabits ? std::optional(bits(static_cast<double>(*megabits) * 1e6)) : std::nullopt,
                     .numa = node_of(interface)});
  }
  return ports;
}

}  // namespace

HostTopology read_topology(const fs::path& root) {
  HostTopology topology{.nodes = numa_nodes(root)};
  std::set<std::string> under;
  topology.ports = rdma_ports(root, under);
  std::ranges::move(ethernet_ports(root, under), std::back_inserter(topology.ports));
  return topology;
}

std::optional<int> numa_of_pci(const std::string& address, const fs::path& root) {
  return address.empty() ? std::nullopt : node_in(root / "sys/bus/pci/devices" / address / "numa_node");
}

}  // namespace hbench
