#include "bench/doctor/gpu_findings.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "analysis/records/throttling.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

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
  const Limits& limits = machine.limits;
  if (limits.shared_memory && *limits.shared_memory < kSharedMemory)
    findings.push_back({"/dev/shm", fmt::format("{}: NCCL needs more", amount(*limits.shared_memory)),
                        "docker run --shm-size=1g, or --ipc=host", machine.driver.gpus.empty()});
  const bool rdma = std::ranges::any_of(machine.host.ports, &NetworkPort::rdma);
  if (rdma && limits.locked_memory)
    findings.push_back({"locked memory",
                        fmt::format("{}: RDMA cards need theirs locked", amount(*limits.locked_memory)),
                        "ulimit -l unlimited; docker run --ulimit memlock=-1"});
}

}  // namespace

Limits limits_here() {
  Limits limits;
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

}  // namespace hbench
