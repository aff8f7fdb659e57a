#include "bench/submit/engine.hpp"

#include <algorithm>
#include <array>

#include "bench/command/command_line.hpp"
#include "bench/launch/allocation.hpp"

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

std::vector<std::string> Submission::expected_hosts() const {
  const bool said = std::ranges::any_of(sweep, [](const std::string& text) { return is_flag(text, kExpectHostsFlag); });
  if (nodes < 2 || said) return {};
  return {kExpectHostsFlag, std::to_string(nodes)};
}

}  // namespace hbench
