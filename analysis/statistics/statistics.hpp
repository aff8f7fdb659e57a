#pragma once

/// Robust estimates of a step's time, and how often chance gives a result. Of several launches the launch is the unit,
/// since iterations of one launch share its luck (placement, clocks, neighbours). Kalibera & Jones, "Rigorous
/// benchmarking in reasonable time", ISMM 2013.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

/// A launch and the launch of the baseline that ran next to it: what slows the machine slows both.
struct PairedLaunch {
  Launch baseline;
  Launch own;
};

/// A ratio of two measured times with what is known of its uncertainty, from a few launches of each.
///
/// The interval is a 95 % prediction interval for a repeat: another whole run, of as many launches in the same
/// conditions, shows a value within it 95 times of 100. It is sqrt(2) times as wide as a confidence interval of the
/// same level, since the repeat is as uncertain as what it repeats. `analysis/points/README.md` has the derivation.
struct RatioEstimate {
  double ratio = 0;
  std::optional<Interval> interval;  ///< none of one launch each: its iterations say nothing of another one
  std::string in_words;              ///< what the interval means; empty without one
};

/// Time of the baseline / own time: the Hodges-Lehmann estimate of the logarithm of the pairs' ratios, with Student's
/// interval on those logarithms. \pre pairs, their launches and their values are not empty; values are above 0.
RatioEstimate paired_ratio(const std::vector<PairedLaunch>& pairs);

/// The same for launches that did not take turns: the ratio of the medians of launches, with Welch's interval. It
/// cannot know how the machine changed between the two. \pre as `paired_ratio`.
RatioEstimate unpaired_ratio(const Launches& baseline, const Launches& own);

/// The interval of the median of one value per launch; both ends are the value where there is one launch.
/// \pre not empty, values above 0.
Interval repeat_interval(std::span<const double> launches);

/// Returns the 95 % confidence interval of the mean of one value per launch (Student's t), with the mean in its middle;
/// both ends are the value where there is one launch. \pre not empty
Interval mean_interval(std::span<const double> launches);

/// The 97.5th percentile of Student's t distribution. \pre degrees >= 1.
double student_t(int degrees);

}  // namespace hbench
