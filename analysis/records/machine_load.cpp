#include "analysis/records/machine_load.hpp"

#include <map>

namespace hbench {
namespace {

/// Of all cores: less is what a machine always does.
constexpr double kNoticeable = 0.05;
/// All cores are busy when so much of them is: nothing measures CPU time to the last tick.
constexpr double kFull = 0.9;

}  // namespace

bool MachineLoad::disturbed() const {
  if (cores <= 0) return false;
  const double noticeable = kNoticeable * cores;
  return stolen > noticeable || (others > noticeable && own + others + stolen > kFull * cores);
}

std::vector<MachineLoad> machine_loads(const CaseResult& result) {
  std::map<int, MachineLoad> by_launch;
  const auto fact = [&](const Sample& sample, std::string_view name, double MachineLoad::*member) {
    if (sample.metric == name) by_launch[sample.launch].*member = sample.value;
  };
  for (const Sample& sample : result.samples) {
    fact(sample, metric::kCores, &MachineLoad::cores);
    fact(sample, metric::kOwnCores, &MachineLoad::own);
    fact(sample, metric::kOtherCores, &MachineLoad::others);
    fact(sample, metric::kStolenCores, &MachineLoad::stolen);
  }
  std::vector<MachineLoad> loads;
  for (auto& [launch, load] : by_launch) {
    load.launch = launch;
    loads.push_back(load);
  }
  return loads;
}

}  // namespace hbench
