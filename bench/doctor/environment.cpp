#include "bench/doctor/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>

#include "bench/doctor/gpu_environment.hpp"
#include "bench/launch/host.hpp"
#include "bench/worker/backing_folders.hpp"
#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string state(const Availability& availability) {
  return availability.available ? "built in" : "not available: " + availability.reason;
}

/// Variables that change how fast a library's algorithms are: of these alone is the value kept. Those with which a
/// launcher describes a job to its ranks are not among them.
constexpr std::array<std::string_view, 8> kSettings{
    "ATEN_CPU_CAPABILITY", "FI_PROVIDER",       "MKL_ENABLE_INSTRUCTIONS", "MPICH_ASYNC_PROGRESS",
    "ONEDNN_MAX_CPU_ISA",  "OPENBLAS_CORETYPE", "UCX_NET_DEVICES",         "UCX_TLS"};
/// Beginnings of names.
constexpr std::array<std::string_view, 6> kSettingFamilies{"OMPI_MCA_btl",  "OMPI_MCA_pml", "OMPI_MCA_mtl",
                                                           "OMPI_MCA_coll", "OMPI_MCA_osc", "MPIR_CVAR_"};

bool is_setting(std::string_view name) {
  // Ours, of one job.
  if (std::ranges::find(kBackingFolderVariables, name) != kBackingFolderVariables.end()) return false;
  return std::ranges::find(kSettings, name) != kSettings.end() ||
         std::ranges::any_of(kSettingFamilies, [&](std::string_view family) { return name.starts_with(family); });
}

/// `NAME=value NAME=value`, by name.
std::string settings() {
  std::set<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (is_setting(text.substr(0, text.find('=')))) found.emplace(text);
  }
  return fmt::format("{}", fmt::join(found, " "));
}

std::string torch_state() {
  std::map<std::string, std::string> facts = torch_facts();
  return facts.empty() ? state(torch_availability()) : "built in, " + facts["version"];
}

}  // namespace

std::string emulated_network() {
  constexpr std::size_t kLongest = 100;
  const char* variable = std::getenv("HBENCH_EMULATED");
  const std::string text = variable != nullptr ? variable : "";
  const bool printable = std::ranges::none_of(text, [](unsigned char c) { return std::iscntrl(c) != 0; });
  if (!printable || text.size() > kLongest)
    throw Error(ExitCode::usage, fmt::format("HBENCH_EMULATED must be one line of at most {} characters", kLongest),
                "write what network the ranks have, such as HBENCH_EMULATED='3 hosts, 200mbit each way', or unset it");
  return text;
}

TestDelay test_delay() {
  const char* variable = std::getenv("HBENCH_TEST_DELAY");
  return parse_test_delay(variable != nullptr ? variable : "");
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
  if (const TestDelay delay = test_delay(); delay.is_set()) facts["test_delay"] = delay.text();
  if (std::string library = mpi_library(); !library.empty()) facts["mpi_library"] = std::move(library);
  if (std::string set = settings(); !set.empty()) facts["settings"] = std::move(set);
  if (!uses_gpus) return facts;
  for (auto& [key, value] : gpu_environment(only(driver_facts(), cuda_pci_addresses()), gpu_libraries()))
    facts[key] = std::move(value);
  return facts;
}

}  // namespace hbench
