#pragma once

/// How far simulated figures may be from real ones in what two of them do not share. What may be wrong with a step
/// alone is in `unknowns.hpp`.

#include <cmath>

namespace hbench {

/// The share of real steps that a band of predictions promises to hold.
inline constexpr double kBandLevel = 0.9;

/// The model's own error of a pair of steps on one cluster, which share what is not known of it; half a width on
/// logarithms: sqrt(compute^2 + (communication * share)^2). What disturbs compute counts in every step of several GPUs;
/// errors of the network count as far as it is used.
struct ModelError {
  double compute = 0;
  double communication = 0;

  /// Of a step with this share of communication.
  double half_width(double share) const { return std::hypot(compute, communication * share); }
};

/// Published pairs (`tests/bench/crossover_test.cpp`) that are further apart have the predicted order in 9 of 10 cases.
inline constexpr ModelError kModelError{.compute = 0.11, .communication = 0.05};

/// How far one collective may be off, on logarithms, beyond the other things that are not known of it: where a model
/// says how long it takes, because the library may choose another algorithm or protocol; and where a measured curve of
/// the cluster does, which another run of the same machines repeats no better. `hbench validate` repeats both.
inline constexpr double kCollectiveError = 0.35;
inline constexpr double kCurveError = 0.2;

}  // namespace hbench
