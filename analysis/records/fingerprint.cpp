#include "analysis/records/fingerprint.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <sstream>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A fact as a part of the fingerprint.
struct Trait {
  std::string_view fact;
  const char* words;  ///< with the fact's value
  int version = 0;    ///< the number of a version's first numbers that count; 0: the value is taken as it is
  bool gpu = false;   ///< only where GPUs were used
};
constexpr std::string_view kGpuSettings = "gpu_settings";

/// In the order of the text. The kernel and the compiler are left out: they change often and cost little.
constexpr std::array kTraits{
    Trait{"cpu_caches", "caches {}"},  // of runs that were imported
    Trait{"torch", "LibTorch {}", 2},
    Trait{"mpi_library", "{}", 2},
    Trait{"settings", "{}"},
    Trait{"hosts_network", "hosts joined by {}"},
    Trait{"gpu", "{}", 0, true},
    Trait{"gpu_power_limit", "at most {}", 0, true},
    Trait{"gpu_links", "{}", 0, true},
    Trait{"gpu_driver", "driver {}", 1, true},
    Trait{"cuda", "CUDA {}", 2, true},
    Trait{"nccl", "NCCL {}", 2, true},
    Trait{"cudnn", "cuDNN {}", 2, true},
    Trait{kGpuSettings, "{}", 0, true},
};

/// `built in, 2.6.0+cpu` -> `2.6`; `Open MPI v4.1.4, package ...` -> `Open MPI v4.1`. Empty where there is no number.
std::string class_of(std::string_view version, int numbers) {
  constexpr std::string_view kBuiltIn = "built in, ";
  if (version.starts_with(kBuiltIn)) version.remove_prefix(kBuiltIn.size());
  const std::size_t first = version.find_first_of("0123456789");
  if (first == version.npos || version.starts_with("not available") || version.starts_with("absent")) return "";
  std::size_t end = first;
  for (; end < version.size(); ++end) {
    const char c = version[end];
    if (c == '.' && --numbers > 0) continue;
    if (c < '0' || c > '9') break;
  }
  return std::string(version.substr(0, end));
}

/// Without what only makes NCCL talk.
std::string without_debug(const std::string& settings) {
  std::string kept;
  std::istringstream words(settings);
  for (std::string word; words >> word;)
    if (!word.starts_with("NCCL_DEBUG=")) kept += (kept.empty() ? "" : " ") + word;
  return kept;
}

}  // namespace

Fingerprint fingerprint(const std::map<std::string, std::string>& environment, bool on_gpu) {
  const auto fact = [&](std::string_view key) {
    const auto found = environment.find(std::string(key));
    return found == environment.end() ? std::string() : found->second;
  };
  const std::string cores = fact("cores"), cpu = fact("cpu");
  std::string text = fact(kMachineName);
  if (text.empty() || !cores.empty() || !cpu.empty())
    text += fmt::format("{}{} core{} of {}", text.empty() ? "" : ", ", cores.empty() ? "?" : cores,
                        cores == "1" ? "" : "s", cpu.empty() ? "an unknown processor" : cpu);
  for (const Trait& trait : kTraits) {
    if (trait.gpu && !on_gpu) continue;
    std::string value = fact(trait.fact);
    if (trait.version > 0) value = class_of(value, trait.version);
    if (trait.fact == kGpuSettings) value = without_debug(value);
    if (!value.empty()) text += ", " + fmt::format(fmt::runtime(trait.words), value);
  }
  return {.digest = digest_text(text), .text = text};
}

std::string environment_key(const std::string& digest) { return "machine " + digest; }

void place_on_this_machine(Case& asked, Run& run) {
  if (!asked.is_timed()) return;
  const Fingerprint machine = fingerprint(run.environment, asked.training.on_gpu());
  asked.machine = machine.digest;
  run.environment[environment_key(machine.digest)] = machine.text;
}

std::vector<ChangedFact> changed_facts(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& after) {
  std::set<std::string> names;
  for (const auto* facts : {&before, &after})
    for (const auto& [name, value] : *facts)
      if (!name.starts_with("machine ")) names.insert(name);
  std::vector<ChangedFact> changed;
  const auto value_of = [](const auto& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string() : found->second;
  };
  for (const std::string& name : names)
    if (ChangedFact fact{name, value_of(before, name), value_of(after, name)}; fact.before != fact.after)
      changed.push_back(std::move(fact));
  return changed;
}

}  // namespace hbench
