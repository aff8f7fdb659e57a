#pragma once

/// A machine whose noise is known, for programs that print how often rules err on it.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// Standard deviations of logarithms.
struct Noise {
  double iteration, launch, run;
  double slow_share;     ///< of launches that are `kSlow` times slower
  double slow_runs = 0;  ///< share of runs during which the whole machine is
};
inline constexpr double kSlow = 1.08;

/// Draws runs.
class NoisyMachine {
 public:
  NoisyMachine(const Noise& noise, int iterations, std::uint64_t seed)
      : noise_(noise), iterations_(iterations), random_(seed) {}

  /// By which factor the machine is slower during one run.
  double state() { return noise_.slow_runs > 0 && uniform() < noise_.slow_runs ? kSlow : 1; }

  /// Returns the times of the iterations of `launches` launches of one run of something that takes `time`.
  Launches run(double time, int launches) {
    const double today = time * std::exp(noise_.run * normal());
    Launches all;
    for (int launch = 0; launch < launches; ++launch) {
      const double slow = uniform() < noise_.slow_share ? kSlow : 1;
      const double own = today * slow * std::exp(noise_.launch * normal());
      Launch& iterations = all.emplace_back();
      for (int i = 0; i < iterations_; ++i) iterations.push_back(own * std::exp(noise_.iteration * normal()));
    }
    return all;
  }

 private:
  double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) / 9007199254740992.0; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  Noise noise_;
  int iterations_;
  Random random_;
};

}  // namespace hbench
