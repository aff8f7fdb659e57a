#include "bench/track/experiment.hpp"

#include <array>

namespace hbench {

extern const ExperimentKind kSweepExperiment;
extern const ExperimentKind kCollectiveExperiment;
extern const ExperimentKind kCommandExperiment;

std::span<const ExperimentKind* const> experiment_kinds() {
  static constexpr std::array kAll{&kSweepExperiment, &kCollectiveExperiment, &kCommandExperiment};
  return kAll;
}

}  // namespace hbench
