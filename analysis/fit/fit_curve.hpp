#pragma once

/// Calibrates a profile with a collective that was measured on the cluster: the curve becomes a part of the profile,
/// and the latency and the rate of the network (or of the links inside a node) explain it, for other GPU counts.

#include <string>
#include <vector>

#include "analysis/fit/parameter_fit.hpp"
#include "collectives/network/collective_model.hpp"

namespace hbench {

struct CurveFit {
  /// A figure of the profile as its file has it.
  struct Figure {
    std::string key, before, after;
  };

  Profile base, profile;  ///< before and after
  MeasuredCurve curve;
  ParameterFit fit;
  std::vector<Figure> figures = {};     ///< one for each parameter of the fit
  bool kept = false;                    ///< whether the curve is a part of the profile now
  std::vector<std::string> notes = {};  ///< what the curve does not say, with the cure, in sentences

  /// Errors of the models at the curve's sizes, without the curve.
  CurveErrors before() const { return {fit.before}; }
  CurveErrors after() const { return {fit.after}; }
};

/// A curve of the same question in `base` is replaced. A figure that the curve determines is no longer assumed, and a
/// profile whose network it determines becomes as certain as that, 0.1 at best, which is how far runs of one machine
/// differ. What it hardly determines stays as it was. Of one GPU per node the network alone is fitted. \throws Error
/// (usage) where the cluster has fewer GPUs, or other nodes, and where no figures explain the curve.
CurveFit fit_curve(const Profile& base, MeasuredCurve curve);

}  // namespace hbench
