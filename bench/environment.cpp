#include "bench/environment.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "bench/gpu_environment.hpp"
#include "collectives/executors/cuda.hpp"
#include "collectives/executors/endpoint.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string state(const Availability& availability) {
  return availability.available ? "built in" : "absent: " + availability.reason;
}

std::string torch_state() {
  std::map<std::string, std::string> facts = torch_facts();
  return facts.empty() ? state(torch_availability()) : "built in, " + facts["version"];
}

}  // namespace

int available_cores() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

Host this_host() {
  const char* path = std::getenv("PATH");
  return {.cores = available_cores(), .as_root = geteuid() == 0, .path = path != nullptr ? path : ""};
}

std::map<std::string, std::string> environment_facts(bool uses_gpus) {
  utsname kernel{};
  uname(&kernel);
  struct sysinfo memory {};
  sysinfo(&memory);
  std::map<std::string, std::string> facts{
      {"cpu", cpu_name()},
      {"cores", std::to_string(available_cores())},
      {"memory", fmt::format("{:.0f} GiB", static_cast<double>(memory.totalram) * memory.mem_unit / 0x1p30)},
      {"kernel", fmt::format("{} {}", kernel.sysname, kernel.release)},
      {"compiler", "g++ " __VERSION__},
      {"torch", torch_state()},
      {"mpi", state(mpi_availability())},
      {"gpu", "none used: ranks run on CPU cores"},
  };
  if (!uses_gpus) return facts;
  for (auto& [key, value] : gpu_environment(only(driver_facts(), cuda_pci_addresses()), gpu_libraries()))
    facts[key] = std::move(value);
  return facts;
}

}  // namespace hbench
