#pragma once

/// What trainings of data have come to: accuracy over epochs, time and bytes, and what a method or a compressor costs
/// of it beside synchronous training without one. Pure.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// The model after an epoch.
struct LearnedEpoch {
  double seconds = 0;  ///< since the first step, without looking
  double steps = 0;
  double accuracy = 0, loss = 0;  ///< of samples that it was not trained on
};

/// A launch, whose parameters and orders of samples are its own.
struct LearnedLaunch {
  int launch = 0;
  std::vector<LearnedEpoch> epochs;
  double accuracy = 0;  ///< in the end, of what ranks have agreed on

  /// Returns the number of epochs after which it is first at least so accurate; 0: never.
  int epochs_to(double accuracy_wanted) const;
  /// The last of them; null: it never is, or none is wanted (0).
  const LearnedEpoch* first_with(double accuracy_wanted) const;
};

/// The mean over launches, and where that of as many others lies 95 times of 100 (Student's t). Of one launch both ends
/// are the value, and none is beyond what there can be.
struct LaunchMean {
  double value = 0, low = 0, high = 0;
};
LaunchMean mean_over(const std::vector<double>& launches, double least = 0,
                     double most = std::numeric_limits<double>::infinity());

/// Whether accuracy is less than that of synchronous training, beyond one point in a hundred.
enum class AccuracyKept : std::uint8_t {
  kept,      ///< all of the interval of the difference says no
  lost,      ///< all of it lies below 0, and not all within a point
  not_known  ///< else
};
std::string_view to_string(AccuracyKept kept);

/// The same training on another network: as many steps as were measured, each as long as it is simulated there.
struct LearnedElsewhere {
  std::string profile;
  LaunchMean step;                    ///< seconds, with its 90 % band
  std::optional<LaunchMean> seconds;  ///< to the accuracy that is wanted, where all launches reached it
};

struct LearnedCase {
  Case asked;
  std::vector<LearnedLaunch> launches;
  double samples_per_second = 0;
  /// That a worker sends, the mean over all: where ranks count them, and all steps of the method are alike.
  std::optional<double> step_bytes;
  LaunchMean accuracy;  ///< in the end
  int reached = 0;      ///< launches that were as accurate as wanted
  /// Until then, where all launches were.
  std::optional<LaunchMean> epochs, steps, seconds;
  std::optional<LaunchMean> bytes;  ///< that a worker sends; where ranks count them
  /// Of the accuracy to that of the reference, launch by launch: they began with the same parameters.
  std::optional<LaunchMean> difference;
  std::optional<AccuracyKept> kept;           ///< none of the reference, and of one launch
  std::optional<LearnedElsewhere> elsewhere;  ///< where a network was asked for

  /// Each epoch's mean over launches; of as many as all have.
  std::vector<LearnedEpoch> curve() const;
};

struct Learning {
  double wanted = 0;  ///< accuracy; 0: none
  /// The quickest to it first, then those that do not reach it, the most accurate first; without one by accuracy alone.
  std::vector<LearnedCase> cases;

  /// Synchronous training without a compressor, on as many ranks, by an all-reduce before servers; null where it was
  /// not trained.
  const LearnedCase* reference(const Case& of) const;
};

/// Returns what the results have learned, each with what is simulated of its strategy on as many GPUs.
Learning learning_of(const std::vector<CaseResult>& results, double wanted);

/// `accuracy=0.9`, `0.9`, `90%`. \throws Error (usage).
double parse_wanted_accuracy(std::string_view text);

}  // namespace hbench
