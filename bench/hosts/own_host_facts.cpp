#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <iterator>

#include "bench/doctor/available_memory.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/hosts/host_facts.hpp"
#include "bench/revision.hpp"
#include "collectives/base/digest.hpp"
#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The first line of one of the kernel's files; empty where it is not there.
std::string line_of(const std::string& file) {
  const std::string text = content(file);
  return text.substr(0, text.find('\n'));
}

int number_of(const std::string& file) {
  const std::string text = line_of(file);
  return text.empty() || text.front() == '-' ? 0 : std::atoi(text.c_str());
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
    addresses.push_back({.interface = entry->ifa_name,
                         .subnet = subnet_of(*entry),
                         .mtu = number_of(folder + "mtu"),
                         .speed = number_of(folder + "speed")});
  }
  freeifaddrs(all);
  return addresses;
}

std::string free_mebibytes(const char* folder) {
  struct statvfs disk {};
  if (statvfs(folder, &disk) != 0) return "0";
  return std::to_string(disk.f_bavail * disk.f_frsize >> 20);
}

std::string own_program() {
  const std::string bytes = content("/proc/self/exe");
  return fmt::format("{} ({:016x})", HBENCH_VERSION, digest(std::as_bytes(std::span(bytes))));
}

}  // namespace

HostFacts own_host_facts() {
  HostFacts own{.name = {}, .facts = environment_facts(cuda_devices() > 0), .addresses = own_addresses(), .clock = 0};
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  own.name = name.data();
  const auto add = [&](std::string_view fact, std::string value) {
    if (!value.empty()) own.facts.insert_or_assign(std::string(fact), std::move(value));
  };
  add(host_fact::kProgram, own_program());
  add(host_fact::kGovernor, line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add(host_fact::kFreeMemory, std::to_string(available_memory() >> 20));
  add(host_fact::kFreeShared, free_mebibytes("/dev/shm"));
  using std::chrono::system_clock;
  own.clock = std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
  return own;
}

}  // namespace hbench
