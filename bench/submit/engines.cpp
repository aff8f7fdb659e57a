#include <array>

#include "bench/submit/engine.hpp"

namespace hbench {

extern const Engine kSlurmEngine, kKubernetesEngine, kSparkEngine;

namespace {
constexpr std::array kEngines{&kSlurmEngine, &kKubernetesEngine, &kSparkEngine};
}

std::span<const Engine* const> engines() { return kEngines; }

std::vector<std::string> Submission::sweep_into(const std::filesystem::path& where) const {
  std::vector<std::string> arguments = sweep;
  arguments.insert(arguments.end(), {"--db", where / "hbench.db", "--report", where / "hbench-report", "--resume"});
  return arguments;
}

}  // namespace hbench
