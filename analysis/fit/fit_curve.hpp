#pragma once

/// Calibrates a profile with a collective that was measured on the cluster: the curve becomes a part of the profile,
/// and the latency and the rate of the network (or of the links inside a node) explain it, for other GPU counts.
///
/// The rules that every fit keeps, whatever it is fitted to.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/parameter_fit.hpp"
#include "collectives/network/collective_model.hpp"
#include "collectives/network/profile.hpp"

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

/// The mean of the sizes of errors. \pre there is one.
double mean_size(const std::vector<double>& errors);

/// The logarithm of the largest factor that a figure of a profile may get: no NIC carries more than its stated line
/// rate, and nothing inside a node more than the GPUs' links. A figure that is assumed may be what it is assumed
/// within.
double most_factor(const Profile& profile, std::string_view key);

/// For the source of a fitted figure: `determined by it`, where `by` is "it".
std::string how_determined(const FittedParameter& parameter, std::string_view by);
/// `yes`, `no`, or that the observations ask for more than is possible.
std::string determined_text(const FittedParameter& parameter);

/// \throws Error (usage) where a fitted model is off by more than `most` on average (a logarithm), or only by figures
/// that are far from what they were: they would be of no such machine, and nothing must be written. `what` was
/// measured.
void check_explained(const ParameterFit& fit, double most, std::string_view profile, std::string_view what);

}  // namespace hbench
