#pragma once

/// Robust estimates of a step's time, and how often chance gives a result. What several launches tell is in
/// `interval.hpp`: the launch is the unit there, since iterations of one launch share its luck (placement, clocks,
/// neighbours). Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbench {

/// The middle value, or the mean of the two in the middle; NaN for no values.
double median(std::vector<double> values);

/// The value below which a `share` (0 .. 1) of the values lies, linear between neighbours (type 7 of
/// Hyndman & Fan, "Sample quantiles in statistical packages", 1996); NaN for no values.
double percentile(std::vector<double> values, double share);

/// How large errors are, whatever their signs.
struct ErrorSizes {
  double mean = 0, median = 0, largest = 0;
};
/// \pre there are errors
ErrorSizes error_sizes(std::vector<double> errors);

/// Values of one launch, one per iteration; and those of several launches. None may be empty.
using Launch = std::vector<double>;
using Launches = std::vector<Launch>;

/// The median over launches of each launch's median.
double median_of_launches(const Launches& launches);

struct Interval {
  double low = 0;
  double high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A source of random numbers that is the same on every platform (splitmix64: Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 64 uniform bits.
  std::uint64_t next();
  /// Uniform in 0 .. n-1, for n in 1 .. 2^32 - 1 (to within n / 2^32).
  std::size_t below(std::size_t n);

 private:
  std::uint64_t state_;
};

/// Returns the probability that chance alone gives `successes` or more in `trials` independent trials, each of which
/// succeeds with probability `chance`: with a half the sign test (Dixon & Mood, "The statistical sign test", 1946).
/// \pre 0 < chance < 1, successes <= trials
double binomial_tail(std::size_t successes, std::size_t trials, double chance);

}  // namespace hbench
