#include <array>

#include "bench/track/experiment.hpp"

namespace hbench {

extern const ExperimentKind kSweepExperiment;
extern const ExperimentKind kCollectiveExperiment;

std::span<const ExperimentKind* const> experiment_kinds() {
  static constexpr std::array kAll{&kSweepExperiment, &kCollectiveExperiment};
  return kAll;
}

}  // namespace hbench
