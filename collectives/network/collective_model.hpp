#pragma once

/// How long one collective takes alone on a cluster: by a curve that was measured there, by the model of the vendor's
/// library, or by its schedule in virtual time, with what a call and a kernel cost.

#include <cstdint>
#include <map>
#include <string_view>

#include "collectives/network/library_model.hpp"
#include "collectives/network/simulation_plan.hpp"
#include "collectives/network/simulator.hpp"

namespace hbench {

/// Where a time comes from. `curve`: measured at this size, or between two sizes; `scaled`: the model, times what the
/// nearest measured size takes / what the model says there; `model`: a schedule or the library's model by itself.
enum class TimeBasis : std::uint8_t { model, scaled, curve };
std::string_view to_string(TimeBasis basis);

/// The factor up to which sizes beyond a curve are scaled by it; farther away it says nothing, and the model is alone.
inline constexpr double kFarFromCurve = 64;

/// Keeps plans of schedules that it has made. Not thread-safe. `profile` outlives it.
class CollectiveModel {
 public:
  /// Of collectives within `groups` at once, where these are not all ranks: of workers alone. Asks `stop` before every
  /// round.
  CollectiveModel(const Profile& profile, const World& world, StopRequested stop = {}, const RankGroups& groups = {});

  struct Answer {
    Seconds time;
    TimeBasis basis = TimeBasis::model;
  };
  /// Of a buffer of `elements` per rank. A curve counts where its collective, algorithm, ranks and nodes are these, and
  /// elements travel as they are. `segments` of a pipelined algorithm; 0: as many as it chooses.
  /// \pre the algorithm does not refuse the world; a vendor's has no codec. \throws as `stop_if`.
  Answer answer(const AlgorithmChoice& algorithm, const Encoding& encoding, std::int64_t elements, int segments = 0);
  /// The same without curves.
  Seconds model(const AlgorithmChoice& algorithm, const Encoding& encoding, std::int64_t elements, int segments = 0);
  /// Bytes that one rank sends in the mean; none where the schedule is the library's own.
  std::optional<Moved> sent_per_rank(const AlgorithmChoice& algorithm, const Encoding& encoding, std::int64_t elements);

 private:
  const MeasuredCurve* curve_of(const AlgorithmChoice& algorithm) const;
  /// Those that do one collective together.
  World of_group() const;

  const Profile* profile_;
  World world_;
  RankGroups groups_;
  StopRequested stop_;
  Network network_;
  SimulationPlans plans_;
  /// What one rank sends of one element of its buffer, by algorithm, its parameters and segments.
  std::map<std::tuple<const Algorithm*, std::string, int>, Moved> shares_;
  /// What a curve measured at one of its ends / what the model says there, by segments and the size of an element.
  std::map<std::tuple<const MeasuredCurve*, std::int64_t, int, std::size_t>, double> scales_;
};

/// How far a model is from measured times: logarithms of model / measured, and what they come to.
struct CurveErrors {
  std::vector<double> logarithms;  ///< by point of the curve

  double mean_size() const;
  /// Of the largest size.
  double worst() const;
};

/// The model without the curve, at every size of it from `least` to `most`.
CurveErrors model_errors(const Profile& profile, const MeasuredCurve& curve, std::int64_t least = 0,
                         std::int64_t most = INT64_MAX);
/// Every second size, from those between.
CurveErrors interpolation_errors(const MeasuredCurve& curve, std::int64_t least = 0, std::int64_t most = INT64_MAX);

}  // namespace hbench
