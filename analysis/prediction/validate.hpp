#pragma once

/// Predictions beside published figures: how far they are apart, and how often their bands hold what they promise.
///
/// Pairs of published figures beside the pairs of their predictions: who is ahead, and by how much. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/points/coverage.hpp"
#include "analysis/points/lead.hpp"
#include "analysis/points/point.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// A predicted step beside a published one. Seconds.
struct StepBesideFigure {
  double published = 0;                     ///< as the throughput or the efficiency of the source says
  double predicted = 0, low = 0, high = 0;  ///< with its 90 % band
  Residual residual;

  /// Predicted over published throughput, less 1: above 0 where the prediction is too fast.
  double error() const { return published / predicted - 1; }
  /// Returns whether the band holds the published step; a quicker one is as far outside as a slower one.
  bool held() const { return low <= published && published <= high; }
};

/// One published figure and its prediction.
struct Validation : StepBesideFigure {
  Case asked;                                 ///< as published
  std::string chosen;                         ///< with the figure known (`chosen_with`); empty: nothing
  std::optional<StepBesideFigure> left_out;   ///< without what its preset has chosen with it; none for other choices
  bool mixed_precision = false;               ///< its note says so, or its one GPU is too fast for single precision
  bool computed_timeline = false;             ///< of its workload
  bool assumed_links = false;                 ///< nobody states the network, or of one node the links inside
  double better = 0, worse = 0;               ///< seconds, with the better and the worse figures of its profile
  double rate = 0;                            ///< samples/s of one GPU that the prediction starts from
  std::optional<StepBesideFigure> unnamed;    ///< as if its framework were not known; none where it is not
  std::optional<StepBesideFigure> from_node;  ///< from what the source's full node makes, where it says that too

  /// For `lead_of`.
  StepEnds ends() const;
  /// Returns the speed of the published step over that of as many GPUs alone; above 1 its baseline was slow, or one of
  /// the two figures is not of this step.
  double faster_than_alone() const { return asked.batch_per_gpu / rate / published; }
};

/// `Validation::chosen` of a row that others start from.
inline constexpr const char* kStart = "start";

/// The table of published or measured figures in a file. \throws Error as `read_file` and `published_results`.
std::vector<CaseResult> read_published(const std::string& file);

/// The profiles and timelines that the figures name, beside those that are `known`. \throws Error (usage) that names
/// the row's place, for a name that there is not.
Catalog catalog_of(const std::vector<CaseResult>& published, const Data& data, Catalog known = {});

/// What a row starts from that states no rate of one GPU: `profile`: the profile's rate; `node`: where there is one,
/// the row of one full node by the same source with the same note, at its batch. Of that row `start` is chosen.
/// `job`: as `profile`, and all rates, stated or not, are of jobs whose model is shared among several GPUs.
enum class RowStart : std::uint8_t { profile, node, job };

/// Simulates what each published figure describes: its batch, its strategy, and the rate of one GPU in its source where
/// that is stated, else what `start` says. In the order of `published`. \throws Error (usage) that names the row's
/// place, for a name that this version does not know and for what cannot be simulated, (interrupted) after a stop.
std::vector<Validation> validate(const std::vector<CaseResult>& published, const Data& data,
                                 const SimulationMeans& means = {});
/// The same with profiles and timelines that are at hand. \pre `catalog` has those that `published` names
std::vector<Validation> validate(const std::vector<CaseResult>& published, const Catalog& catalog,
                                 const SimulationMeans& means = {}, RowStart start = RowStart::profile);
/// Only how far the steps are off that are stated: logarithms of predicted over published seconds, from a full node
/// where the source has one. Without bands, in a third of the time. \pre and \throws as `validate`.
std::vector<double> prediction_errors(const std::vector<CaseResult>& published, const Catalog& catalog,
                                      const SimulationMeans& means = {});

/// Two strategies of one source on one cluster, with the same workload, GPUs, batch and rate of one GPU.
struct ValidatedPair {
  const Validation* first = nullptr;
  const Validation* second = nullptr;
  Lead lead;                ///< of the first, as predicted
  double published = 1;     ///< the number of times that the first is as fast as the second, in the source
  Residual residual;        ///< of the ratio: its unknowns, and the logarithm of published / predicted
  bool servers = false;     ///< one of the two has parameter servers, the other none
  bool compressor = false;  ///< one of the two compresses, the other does not

  /// Whether the one that is predicted to be quicker is.
  bool in_order() const { return (lead.ratio > 1) == (published > 1); }
};

/// All pairs of `figures` whose strategies differ and from neither of which a figure of their profile was computed.
/// They point into `figures`.
std::vector<ValidatedPair> pairs_of(const std::vector<Validation>& figures);

}  // namespace hbench
