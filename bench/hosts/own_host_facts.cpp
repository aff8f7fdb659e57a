#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/statvfs.h>

#include <array>
#include <fstream>
#include <iterator>

#include "bench/doctor/environment.hpp"
#include "bench/hosts/host_facts.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/worker/process_identity.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/text.hpp"
#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// 0 where the kernel does not say.
std::int64_t number_of(const std::string& file) {
  const std::string text = first_line(file);
  return text.empty() || text.front() == '-' ? 0 : std::atoll(text.c_str());
}

std::string subnet_of(const ifaddrs& entry) {
  in_addr address = reinterpret_cast<const sockaddr_in*>(entry.ifa_addr)->sin_addr;
  const in_addr mask = reinterpret_cast<const sockaddr_in*>(entry.ifa_netmask)->sin_addr;
  address.s_addr &= mask.s_addr;
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address, text.data(), text.size());
  return fmt::format("{}/{}", text.data(), __builtin_popcount(mask.s_addr));
}

std::vector<HostAddress> own_addresses() {
  std::vector<HostAddress> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    const bool usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable || entry->ifa_addr == nullptr || entry->ifa_netmask == nullptr) continue;
    if (entry->ifa_addr->sa_family != AF_INET) continue;
    const std::string folder = fmt::format("/sys/class/net/{}/", entry->ifa_name);
    addresses.push_back(
        {.interface = entry->ifa_name,
         .subnet = subnet_of(*entry),
         .mtu = static_cast<int>(number_of(folder + "mtu")),
         .speed = static_cast<int>(number_of(folder + "speed")),
         .errors = number_of(folder + "statistics/rx_errors") + number_of(folder + "statistics/tx_errors")});
  }
  freeifaddrs(all);
  return addresses;
}

std::string free_mebibytes(const char* folder) {
  struct statvfs disk {};
  if (statvfs(folder, &disk) != 0) return "0";
  return std::to_string(disk.f_bavail * disk.f_frsize >> 20);
}

/// Tells the programs that ranks run from other versions of them.
std::string own_program() {
  const std::string bytes = content(installation().worker) + content(installation().trainer);
  return fmt::format("{} ({:016x})", HBENCH_VERSION, digest(std::as_bytes(std::span(bytes))));
}

/// Of GPUs that this process may use. It has asked the driver alone, and is not among them.
std::string gpu_users() {
  std::size_t users = 0;
  for (const GpuFacts& gpu : only(driver_facts(), cuda_pci_addresses()).gpus) users += gpu.processes.size();
  return std::to_string(users);
}

}  // namespace

HostFacts own_host_facts() {
  const bool has_gpus = cuda_devices() > 0;
  HostFacts own;
  own.name = own_host_name();
  own.facts = environment_facts(has_gpus);
  own.addresses = own_addresses();
  const auto add = [&](std::string_view fact, std::string value) {
    if (!value.empty()) own.facts.insert_or_assign(std::string(fact), std::move(value));
  };
  add(host_fact::kProgram, own_program());
  add(host_fact::kMachine, fmt::format("{} {}", own.name, own_host_identity()));
  add(host_fact::kGovernor, first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add(host_fact::kFreeMemory, std::to_string(available_memory() >> 20));
  add(host_fact::kFreeShared, free_mebibytes("/dev/shm"));
  add(host_fact::kFreeTemporary, free_mebibytes(temporary_base().c_str()));
  if (has_gpus) add(host_fact::kGpuUsers, gpu_users());
  own.training = own_training_means();
  own.clock = wall_clock().value;
  return own;
}

}  // namespace hbench
