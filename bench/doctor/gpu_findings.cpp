#include "bench/doctor/gpu_findings.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "analysis/records/machine_facts.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

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

/// What NCCL's user guide asks containers for: `--shm-size=1g --ulimit memlock=-1` (Troubleshooting, Sharing Data).
constexpr std::int64_t kSharedMemory = std::int64_t{1} << 30;

std::string amount(std::int64_t bytes) { return format(Bytes(static_cast<double>(bytes))); }

Finding summary(const DriverFacts& driver) {
  // Why nothing can be computed there, and the cure, is the executors' to say.
  if (!driver.installed) return {"GPU", "none: " + driver.failure, ""};
  if (!driver.failure.empty())
    return {"GPU", driver.failure, "`nvidia-smi` shows the state of the driver; a reboot loads a new one"};
  if (driver.gpus.empty())
    return {"GPU", "none, though there is a driver", "a container sees those that it was given: docker run --gpus all",
            true};
  return {"GPU",
          fmt::format("{}{}{}", driver.gpus.size(), driver.gpus.size() == 1 ? " GPU" : " GPUs",
                      driver.version.empty() ? "" : ", driver " + driver.version),
          ""};
}

// What is wrong with one GPU; who it is, is written when those with the same trouble are known.

void throttling(const GpuFacts& gpu, std::vector<Finding>& findings) {
  const std::uint64_t reasons = gpu.now.clock_reasons.value_or(0);
  if (throttling_of(reasons) != Throttling::throttled) return;
  findings.push_back({"", fmt::format("throttled now: {}", throttling_text(reasons)),
                      "see to cooling and power supply; `nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER` says more"});
}

void modes(const GpuFacts& gpu, std::vector<Finding>& findings) {
  if (gpu.mig.value_or(false))
    findings.push_back({"", "MIG is on: a process gets a part of it, without NVLink or peer copies",
                        "nvidia-smi -i <GPU> -mig 0 (as root, with nothing running)"});
  if (!gpu.persistent.value_or(true))
    findings.push_back({"", "persistence is off: the driver lets it sleep, and each start takes seconds",
                        "nvidia-smi -pm 1 (as root)", true});
}

void errors(const GpuFacts& gpu, std::vector<Finding>& findings) {
  if (gpu.memory_errors.value_or(0) == 0) return;
  findings.push_back({"",
                      fmt::format("{} uncorrected memory error{} since the driver was loaded", *gpu.memory_errors,
                                  *gpu.memory_errors == 1 ? "" : "s"),
                      "reset it (nvidia-smi --gpu-reset, as root); if they come again, have it exchanged"});
}

void others(const GpuFacts& gpu, std::vector<Finding>& findings) {
  if (gpu.processes.empty()) return;
  const GpuProcess& first = gpu.processes.front();
  const std::size_t more = gpu.processes.size() - 1;
  findings.push_back(
      {"",
       fmt::format("in use by process {}{}{}", first.pid, first.memory ? " with " + amount(*first.memory) : "",
                   more > 0 ? fmt::format(" and {} more", more) : ""),
       "end it before measuring, or choose another GPU with CUDA_VISIBLE_DEVICES"});
}

/// An idle link falls back to a lower generation to save power, but not in its width.
void pcie(const GpuFacts& gpu, std::vector<Finding>& findings) {
  if (!gpu.pcie || !gpu.most_pcie) return;
  const bool idle = (gpu.now.clock_reasons.value_or(clock_reason::kIdle) & clock_reason::kIdle) != 0;
  const bool slow = gpu.pcie->generation < gpu.most_pcie->generation && !idle;
  if (!slow && gpu.pcie->width >= gpu.most_pcie->width) return;
  findings.push_back(
      {"",
       fmt::format("PCIe {}.0 x{} where {}.0 x{} is possible", gpu.pcie->generation, gpu.pcie->width,
                   gpu.most_pcie->generation, gpu.most_pcie->width),
       "see whether it stays so under load (`nvidia-smi -q -d PCI`); then seat the card anew, or look at the BIOS"});
}

/// A GPU whose data cross to another socket before they reach a card, while others need not.
void far_from_network(const GpuFacts& gpu, const Machine& machine, std::vector<Finding>& findings) {
  const auto own = machine.numa.find(gpu.index);
  if (own == machine.numa.end() || machine.host.nodes.size() < 2) return;
  std::vector<const NetworkPort*> up;
  for (const NetworkPort& port : machine.host.ports)
    if (port.up && port.numa) up.push_back(&port);
  if (up.empty() || std::ranges::any_of(up, [&](const NetworkPort* port) { return *port->numa == own->second; }))
    return;
  findings.push_back({"",
                      fmt::format("on NUMA node {}, and the nearest network port ({}) on node {}", own->second,
                                  up.front()->name, *up.front()->numa),
                      "across sockets data travel slower: prefer GPUs of that node for jobs of several hosts", true});
}

std::vector<Finding> wrong_with(const GpuFacts& gpu, const Machine& machine) {
  std::vector<Finding> findings;
  throttling(gpu, findings);
  modes(gpu, findings);
  errors(gpu, findings);
  others(gpu, findings);
  pcie(gpu, findings);
  far_from_network(gpu, machine, findings);
  return findings;
}

/// `GPU 0-3, 6`
std::string gpus_text(const std::vector<int>& gpus) {
  std::string text = "GPU ";
  for (std::size_t begin = 0, end = 0; begin < gpus.size(); begin = end) {
    while (end < gpus.size() && gpus[end] - gpus[begin] == static_cast<int>(end - begin)) ++end;
    text += fmt::format("{}{}", begin > 0 ? ", " : "", gpus[begin]);
    if (end - begin > 1) text += fmt::format("-{}", gpus[end - 1]);
  }
  return text;
}

void limits(const Machine& machine, std::vector<Finding>& findings) {
  const ProcessLimits& limits = machine.limits;
  if (limits.shared_memory && *limits.shared_memory < kSharedMemory)
    findings.push_back({"/dev/shm", fmt::format("{}: NCCL needs more", amount(*limits.shared_memory)),
                        "docker run --shm-size=1g, or --ipc=host", machine.driver.gpus.empty()});
  const bool rdma = std::ranges::any_of(machine.host.ports, &NetworkPort::rdma);
  if (rdma && limits.locked_memory)
    findings.push_back({"locked memory",
                        fmt::format("{}: RDMA cards need theirs locked", amount(*limits.locked_memory)),
                        "ulimit -l unlimited; docker run --ulimit memlock=-1"});
}

using Row = std::vector<std::string>;

std::string known(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("{:.0f} {}", *value, unit) : "";
}

std::string node_text(const std::optional<int>& node) { return node ? fmt::format("NUMA {}", *node) : ""; }

std::optional<int> node_of(const Machine& machine, const GpuFacts& gpu) {
  const auto found = machine.numa.find(gpu.index);
  return found == machine.numa.end() ? std::nullopt : std::optional(found->second);
}

std::string pcie_text(const GpuFacts& gpu) {
  if (!gpu.most_pcie) return "";
  const std::string most = fmt::format("PCIe {}.0 x{}", gpu.most_pcie->generation, gpu.most_pcie->width);
  if (!gpu.pcie || *gpu.pcie == *gpu.most_pcie) return most;
  const bool idle = (gpu.now.clock_reasons.value_or(0) & clock_reason::kIdle) != 0;
  return fmt::format("{}, now {}.0 x{}{}", most, gpu.pcie->generation, gpu.pcie->width, idle ? " (idle)" : "");
}

/// A large GPU is at its power cap by design, which is worth a word and no cure.
std::string power_text(const GpuFacts& gpu) {
  const std::string now = known(gpu.now.power, "W");
  const bool capped = throttling_of(gpu.now.clock_reasons.value_or(0)) == Throttling::power_cap;
  const std::string limit = gpu.power_limit ? fmt::format("of {:.0f} W", *gpu.power_limit) : std::string();
  if (now.empty() || limit.empty()) return now;
  return fmt::format("{:.0f} {}{}", *gpu.now.power, limit, capped ? " (at its cap)" : "");
}

std::string clock_text(const GpuFacts& gpu) {
  if (!gpu.now.sm_clock || !gpu.most_sm_clock) return "";
  return fmt::format("{:.0f} of {:.0f} MHz", *gpu.now.sm_clock / 1e6, *gpu.most_sm_clock / 1e6);
}

/// Without the columns that are empty in every row.
Table without_empty_columns(Table table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    if (!std::ranges::all_of(table.rows, [&](const Row& row) { return row[column].empty(); })) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (Row& row : table.rows) row.erase(row.begin() + at);
  }
  return table;
}

Table gpu_table(const Machine& machine) {
  Table table{.caption = "GPUs", .columns = {"GPU", "name", "memory", "PCIe", "node", "clock", "temperature", "power"}};
  for (const GpuFacts& gpu : machine.driver.gpus)
    table.rows.push_back({std::to_string(gpu.index), gpu.name,
                          gpu.memory ? format(Bytes(static_cast<double>(*gpu.memory))) : "", pcie_text(gpu),
                          node_text(node_of(machine, gpu)), clock_text(gpu), known(gpu.now.temperature, "C"),
                          power_text(gpu)});
  return without_empty_columns(std::move(table));
}

std::string links_between(const GpuFacts& gpu, NvLinks::End end, int peer) {
  int links = 0;
  for (const NvLinks& each : gpu.nvlinks)
    if (each.end == end && each.gpu == peer) links += each.links;
  return links > 0 ? std::to_string(links) : "-";
}

/// How many links lead where.
Table nvlink_table(const std::vector<GpuFacts>& gpus) {
  if (std::ranges::all_of(gpus, [](const GpuFacts& gpu) { return gpu.nvlinks.empty(); })) return {};
  const auto any_to = [&](NvLinks::End end) {
    return std::ranges::any_of(gpus, [&](const GpuFacts& gpu) {
      return std::ranges::any_of(gpu.nvlinks, [&](const NvLinks& links) { return links.end == end && links.gpu < 0; });
    });
  };
  std::vector<std::pair<NvLinks::End, std::string>> elsewhere;
  if (any_to(NvLinks::End::nvswitch)) elsewhere.emplace_back(NvLinks::End::nvswitch, "switch");
  if (any_to(NvLinks::End::gpu)) elsewhere.emplace_back(NvLinks::End::gpu, "hidden GPU");
  if (any_to(NvLinks::End::other)) elsewhere.emplace_back(NvLinks::End::other, "other");
  Table table{.caption = "NVLinks that are up", .columns = {"from"}};
  for (const GpuFacts& gpu : gpus) table.columns.push_back(fmt::format("GPU {}", gpu.index));
  for (const auto& [end, words] : elsewhere) table.columns.push_back(words);
  for (const GpuFacts& gpu : gpus) {
    Row row{fmt::format("GPU {}", gpu.index)};
    for (const GpuFacts& peer : gpus) row.push_back(links_between(gpu, NvLinks::End::gpu, peer.index));
    for (const auto& [end, words] : elsewhere) row.push_back(links_between(gpu, end, -1));
    table.rows.push_back(std::move(row));
  }
  return without_empty_columns(std::move(table));
}

Table numa_table(const std::vector<NumaNode>& nodes) {
  Table table{.caption = "NUMA nodes", .columns = {"node", "cores", "memory"}};
  for (const NumaNode& node : nodes)
    table.rows.push_back(
        {node_text(node.node), node.cpus, node.memory ? format(Bytes(static_cast<double>(*node.memory))) : ""});
  return without_empty_columns(std::move(table));
}

Table port_table(const std::vector<NetworkPort>& ports) {
  Table table{.caption = "Network ports", .columns = {"port", "kind", "state", "speed", "node"}};
  for (const NetworkPort& port : ports)
    table.rows.push_back({port.name, port.kind, port.up ? "up" : "down", port.speed ? format(*port.speed) : "unknown",
                          node_text(port.numa)});
  return without_empty_columns(std::move(table));
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

ProcessLimits limits_here() {
  ProcessLimits limits;
  std::error_code status;
  if (const auto space = std::filesystem::space("/dev/shm", status); !status)
    limits.shared_memory = static_cast<std::int64_t>(space.capacity);
  rlimit locked{};
  if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY)
    limits.locked_memory = static_cast<std::int64_t>(locked.rlim_cur);
  return limits;
}

Machine machine_here(const std::filesystem::path& root) {
  Machine machine{driver_facts(), read_topology(root), {}, limits_here()};
  for (const GpuFacts& gpu : machine.driver.gpus)
    if (const auto node = numa_of_pci(gpu.pci, root)) machine.numa[gpu.index] = *node;
  return machine;
}

std::vector<Finding> gpu_findings(const Machine& machine) {
  std::vector<Finding> findings{summary(machine.driver)};
  std::vector<std::pair<Finding, std::vector<int>>> wrong;
  for (const GpuFacts& gpu : machine.driver.gpus)
    for (Finding& finding : wrong_with(gpu, machine)) {
      const auto same = std::ranges::find(wrong, finding.state, [](const auto& each) { return each.first.state; });
      if (same != wrong.end())
        same->second.push_back(gpu.index);
      else
        wrong.emplace_back(std::move(finding), std::vector{gpu.index});
    }
  for (auto& [finding, gpus] : wrong) {
    finding.what = gpus_text(gpus);
    findings.push_back(std::move(finding));
  }
  limits(machine, findings);
  return findings;
}

std::vector<Table> topology_tables(const Machine& machine) {
  std::vector<Table> tables;
  std::array all{gpu_table(machine), nvlink_table(machine.driver.gpus), numa_table(machine.host.nodes),
                 port_table(machine.host.ports)};
  for (Table& table : all)
    if (!table.rows.empty()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace hbench
