#pragma once

/// How far a simulated training step may be from a real one beyond the uncertainty of its profile's figures: what
/// published steps show of causes that the model does not know. Pure.

#include <string>
#include <vector>

namespace hbench {

/// The share of real steps that a band of predictions promises to hold.
inline constexpr double kBandLevel = 0.9;

/// A simulated step beside a real one.
struct Residual {
  std::string cluster;       ///< steps of one cluster share their causes
  double low = 0, high = 0;  ///< seconds; the simulated step with the better and the worse figures of its profile
  double communication = 0;  ///< share of the simulated step during which a collective is in flight, hidden or not
  /// Seconds of the real step; at least that of one GPU alone, because a faster one shows only that the baseline of its
  /// source was slow.
  double seen = 0;
};

/// Half the width of a band on logarithms: sqrt(compute^2 + (communication * share)^2). What disturbs compute
/// (stragglers, input, bookkeeping of a framework) counts in every step of several GPUs; errors of the network count as
/// far as it is used.
struct ModelError {
  double compute = 0;
  double communication = 0;

  /// Of a step with this share of communication.
  double half_width(double share) const;
};

/// How far, on logarithms, the real step is outside the profile's band; negative inside.
double excess(const Residual& residual);
/// Whether the band of a step, widened by the model's error, holds the real one.
bool holds(const ModelError& error, const Residual& residual);

/// The narrowest error, on average, whose bands hold `kBandLevel` of the steps of the next cluster, which is as likely
/// to be like any of these: so clusters count alike, however many steps each has, and of n clusters bands hold
/// `kBandLevel` (n + 1) / n. \pre there are residuals.
ModelError fit_model_error(const std::vector<Residual>& residuals);

/// The share of steps, clusters counting alike, that bands hold whose width is fitted to the other clusters: what
/// someone may expect of a cluster of which nothing was published. \pre there are two clusters.
double coverage_elsewhere(const std::vector<Residual>& residuals);

/// As `fit_model_error` gives it for the published table of this version, rounded up to a hundredth; `hbench validate`
/// repeats it.
inline constexpr ModelError kModelError{.compute = 0.11, .communication = 0.05};

/// Half the width of the band of one collective, on logarithms, beyond the uncertainty of its profile: where a model
/// says how long it takes, and where a measured curve of the cluster does, which another run of the same machines
/// repeats no better. `hbench validate` repeats both.
inline constexpr double kCollectiveError = 0.35;
inline constexpr double kCurveError = 0.2;

}  // namespace hbench
