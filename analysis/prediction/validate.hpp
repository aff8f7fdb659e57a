#pragma once

/// Predictions beside published figures: how far they are apart, and how often their bands hold what they promise.

#include <string>
#include <vector>

#include "analysis/points/model_error.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/means.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// One published figure and its prediction.
struct Validation {
  Case asked;               ///< as published
  double published = 0;     ///< seconds of a step, as the throughput or the efficiency of the source says
  double predicted = 0;     ///< seconds of a step
  bool calibrated = false;  ///< the model has used the figure (`calibrated_with`)
  Residual residual;        ///< for the band; without the model's own error

  /// Predicted over published throughput, less 1: above 0 where the prediction is too fast.
  double error() const { return published / predicted - 1; }
};

/// The table of published or measured figures in a file. \throws Error as `read_file` and `published_results`.
std::vector<CaseResult> read_published(const std::string& file);

/// The profiles and timelines that the figures name, beside those that are `known`. \throws Error (usage) that names
/// the row's place, for a name that there is not.
Catalog catalog_of(const std::vector<CaseResult>& published, const Data& data, Catalog known = {});

/// Simulates what each published figure describes: its batch, its strategy, and the rate of one GPU in its source where
/// that is stated, else the profile's. In the order of `published`. \throws Error (usage) that names the row's place,
/// for a name that this version does not know and for what cannot be simulated, (interrupted) after a stop.
std::vector<Validation> validate(const std::vector<CaseResult>& published, const Data& data,
                                 const SimulationMeans& means = {});
/// The same with profiles and timelines that are at hand. \pre `catalog` has those that `published` names
std::vector<Validation> validate(const std::vector<CaseResult>& published, const Catalog& catalog,
                                 const SimulationMeans& means = {});

}  // namespace hbench
