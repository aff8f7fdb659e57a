#pragma once

/// Whether a training that somebody measured is as fast as its cluster lets expect, and where the time may have gone.

#include <string>
#include <vector>

#include "analysis/prediction/data.hpp"
#include "analysis/prediction/expectation.hpp"
#include "analysis/prediction/means.hpp"
#include "analysis/prediction/request.hpp"

namespace hbench {

/// What would make the training as slow as it was measured.
struct TrainingSuspicion {
  std::string what;
  std::string check;    ///< the measurement that shows it
  double expected = 0;  ///< samples/s of all GPUs, if it is that
  double off = 0;       ///< |ln| of measured / expected, if it is that
  bool fitted = false;  ///< a figure of it was chosen so that it explains what was measured, so that it always does
};

/// Rates in samples/s of all GPUs together.
struct TrainingExpectation {
  Case asked;
  double measured = 0;
  double expected = 0, low = 0, high = 0;  ///< with the 90 % band
  double alone = 0;                        ///< of GPUs that each train for themselves
  double peak = 0;                         ///< of GPUs at their peak, in whatever precision; 0: not known
  double communication = 0;                ///< share of the expected step with a collective in flight
  std::vector<TrainingSuspicion>
      suspicions;  ///< first what has no fitted figure, best first; empty where it is about as expected

  Normality normality() const;
};

/// Of the one strategy on one cluster and GPU count that `request` asks for. \throws Error (usage) where it asks for
/// several or cannot be simulated, (interrupted).
TrainingExpectation expect_training(const PredictionRequest& request, double samples_per_second, const Data& data,
                                    const SimulationMeans& means);

}  // namespace hbench
