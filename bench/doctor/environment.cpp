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

#include "bench/launch/host.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

/// Variables that decide which GPUs are used and how NCCL reaches them.
constexpr const char* kSettings[] = {"CUDA_VISIBLE_DEVICES",
                                     "CUDA_DEVICE_MAX_CONNECTIONS",
                                     "NCCL_ALGO",
                                     "NCCL_PROTO",
                                     "NCCL_MIN_NCHANNELS",
                                     "NCCL_MAX_NCHANNELS",
                                     "NCCL_P2P_DISABLE",
                                     "NCCL_P2P_LEVEL",
                                     "NCCL_SHM_DISABLE",
                                     "NCCL_NVLS_ENABLE",
                                     "NCCL_NET",
                                     "NCCL_IB_DISABLE",
                                     "NCCL_SOCKET_IFNAME",
                                     "NCCL_BUFFSIZE",
                                     "NCCL_DEBUG",
                                     "NCCL_MULTI_RANK_GPU_ENABLE"};

/// What each GPU says, once where all say the same; empty where none says anything.
std::string of_all(const std::vector<GpuFacts>& gpus, const std::function<std::string(const GpuFacts&)>& say) {
  std::vector<std::string> said;
  bool alike = true, any = false;
  for (const GpuFacts& gpu : gpus) {
    const std::string words = say(gpu);
    said.push_back(words.empty() ? "unknown" : words);
    alike = alike && said.back() == said.front();
    any = any || !words.empty();
  }
  if (!any) return "";
  return alike ? said.front() : fmt::format("{}", fmt::join(said, "; "));
}

std::string names(const std::vector<GpuFacts>& gpus) {
  const std::string name = of_all(gpus, [](const GpuFacts& gpu) { return gpu.name; });
  const bool alike = name.find(';') == std::string::npos;
  return gpus.size() > 1 && alike ? fmt::format("{} x {}", gpus.size(), name) : name;
}

std::string clock(const char* of, const std::optional<double>& now, const std::optional<double>& most) {
  if (!most) return "";
  return now ? fmt::format("{} {:.0f} of {:.0f} MHz", of, *now / 1e6, *most / 1e6)
             : fmt::format("{} at most {:.0f} MHz", of, *most / 1e6);
}

std::string clocks(const GpuFacts& gpu) {
  const std::string multiprocessors = clock("SM", gpu.now.sm_clock, gpu.most_sm_clock);
  const std::string memory = clock("memory", gpu.now.memory_clock, gpu.most_memory_clock);
  return multiprocessors + (multiprocessors.empty() || memory.empty() ? "" : ", ") + memory;
}

std::string modes(const GpuFacts& gpu) {
  std::vector<std::string> words;
  if (gpu.mig) words.push_back(*gpu.mig ? "MIG on" : "MIG off");
  if (gpu.persistent) words.push_back(*gpu.persistent ? "persistence on" : "persistence off");
  return fmt::format("{}", fmt::join(words, ", "));
}

/// `18 NVLinks`, `PCIe 5.0 x16`: how fast bytes leave a GPU, at most.
std::string links(const GpuFacts& gpu) {
  int count = 0;
  bool switched = false;
  for (const NvLinks& nvlinks : gpu.nvlinks) {
    count += nvlinks.links;
    switched = switched || nvlinks.end == NvLinks::End::nvswitch;
  }
  if (count > 0) return fmt::format("{} NVLinks{}", count, switched ? " to NVSwitches" : "");
  return gpu.most_pcie ? fmt::format("PCIe {}.0 x{}", gpu.most_pcie->generation, gpu.most_pcie->width) : "";
}

std::string settings(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> words;
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(words, " "));
}

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
constexpr std::array<std::string_view, 8> kGpuSettings{
    "ATEN_CPU_CAPABILITY", "FI_PROVIDER",       "MKL_ENABLE_INSTRUCTIONS", "MPICH_ASYNC_PROGRESS",
    "ONEDNN_MAX_CPU_ISA",  "OPENBLAS_CORETYPE", "UCX_NET_DEVICES",         "UCX_TLS"};
/// Beginnings of names.
constexpr std::array<std::string_view, 6> kSettingFamilies{"OMPI_MCA_btl",  "OMPI_MCA_pml", "OMPI_MCA_mtl",
                                                           "OMPI_MCA_coll", "OMPI_MCA_osc", "MPIR_CVAR_"};

bool is_setting(std::string_view name) {
  // Ours, of one job.
  if (std::ranges::find(kBackingFolderVariables, name) != kBackingFolderVariables.end()) return false;
  return std::ranges::find(kGpuSettings, name) != kGpuSettings.end() ||
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

GpuLibraries gpu_libraries() {
  std::map<std::string, std::string> torch = torch_facts();
  GpuLibraries libraries{.cuda = cuda_runtime_version(), .nccl = nccl_version(), .cudnn = torch["cudnn"]};
  for (const char* name : kSettings)
    if (const char* value = std::getenv(name)) libraries.settings[name] = value;
  return libraries;
}

DriverFacts only(DriverFacts driver, const std::vector<std::string>& addresses) {
  std::erase_if(driver.gpus,
                [&](const GpuFacts& gpu) { return std::ranges::find(addresses, gpu.pci) == addresses.end(); });
  return driver;
}

std::map<std::string, std::string> gpu_environment(const DriverFacts& driver, const GpuLibraries& libraries) {
  const std::vector<GpuFacts>& gpus = driver.gpus;
  std::map<std::string, std::string> facts{
      {"gpu", !gpus.empty()             ? names(gpus)
              : !driver.failure.empty() ? "none: " + driver.failure
                                        : "none"},
      {"gpu_driver", driver.version},
      {"gpu_clocks", of_all(gpus, clocks)},
      {"gpu_modes", of_all(gpus, modes)},
      {"gpu_links", of_all(gpus, links)},
      {"gpu_uuid", of_all(gpus, [](const GpuFacts& gpu) { return gpu.uuid; })},
      {"gpu_power_limit", of_all(gpus,
                                 [](const GpuFacts& gpu) {
                                   return gpu.power_limit ? fmt::format("{:.0f} W", *gpu.power_limit) : std::string();
                                 })},
      {"gpu_settings", settings(libraries.settings)},
      {"cuda", libraries.cuda},
      {"cuda_driver",
       driver.cuda > 0 ? fmt::format("up to {}.{}", driver.cuda / 1000, driver.cuda % 1000 / 10) : std::string()},
      {"nccl", libraries.nccl},
      {"cudnn", libraries.cudnn},
  };
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

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

TrainingMeans own_training_means() {
  TrainingMeans means;
  if (const Availability torch = torch_availability(); !torch.available) means.no_training = torch.in_words();
  if (const Availability gpu = gpu_training_availability(); gpu.available)
    means.gpus = cuda_devices();
  else
    means.no_gpu = gpu.in_words();
  for (const ExecutorKind* kind : executors())
    if (const Availability there = kind->availability(); !there.available)
      means.absent[std::string(kind->name)] = there.in_words();
  return means;
}

}  // namespace hbench
