#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/records/throttling.hpp"
#include "bench/doctor/gpu_findings.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

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

std::vector<Table> topology_tables(const Machine& machine) {
  std::vector<Table> tables;
  std::array all{gpu_table(machine), nvlink_table(machine.driver.gpus), numa_table(machine.host.nodes),
                 port_table(machine.host.ports)};
  for (Table& table : all)
    if (!table.rows.empty()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace hbench
