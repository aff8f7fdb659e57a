#pragma once

/// How far simulated figures may be from real ones in what two of them do not share. What may be wrong with a step
/// alone is in `unknowns.hpp`.

#include <cmath>

namespace hbench {

/// The share of real steps that a band of predictions promises to hold.
inline constexpr double kBandLevel = 0.9;

/// The model's own error of a pair of steps on one cluster, which share what is not known of it; half a width on
/// logarithms: sqrt(compute^2 + (exposed * share)^2). What disturbs compute counts in every step of several GPUs;
/// errors of the exchange count as far as nothing hides it.
struct ModelError {
  double compute = 0;
  double exposed = 0;

  /// Of a step with this share of `StepEnds::exposed`.
  double half_width(double share) const { return std::hypot(compute, exposed * share); }
};

/// Published pairs tell it: with it nine of ten pairs of all-reduces are held (`hbench validate`, the classes of
/// pairs).
inline constexpr ModelError kModelError{.compute = 0.1, .exposed = 0.1};

/// What a pair of all-reduce and parameter servers has apart beyond that, for a step that is all exposed: servers are
/// other programs, with a rate, messages and threads of their own. The ratios of Horovod's rings and distributed
/// TensorFlow's servers are 0.21 from the predicted ones (0.43 at most), those of Horovod and BytePS 0.08 (0.31); with
/// it nine of ten are held, both sources counting alike. None of it is the two models of the network, which agree on
/// equal messages (`tests/collectives/network_models_test.cpp`).
inline constexpr double kServersApart = 0.3;

/// How far one collective may be off, on logarithms, beyond the other things that are not known of it: where a model
/// says how long it takes, because the library may choose another algorithm or protocol; and where a measured curve of
/// the cluster does, which another run of the same machines repeats no better. `hbench validate` repeats both.
inline constexpr double kCollectiveError = 0.35;
inline constexpr double kCurveError = 0.2;

}  // namespace hbench
