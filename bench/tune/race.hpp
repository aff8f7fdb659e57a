#pragma once

/// Which of many candidates is the fastest, from few launches of each, and which differences are noise. Pure: `next`
/// says what to launch, and `record` takes its result.
///
/// The launch is the unit. First a selection: each round launches every remaining candidate once, in an order that
/// alternates, and drops the slower half (successive halving: Jamieson and Talwalkar, Non-stochastic Best Arm
/// Identification and Hyperparameter Optimization, AISTATS 2016). Then a final of the few that remain, judged by its
/// own launches alone: those that selected them made them look good. The first candidate is the reference (the
/// default): it is never dropped.

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// What is known of one candidate in the end.
struct Standing {
  enum class Verdict : unsigned char {
    best,     ///< the least median of the final
    equal,    ///< no worse than the best: the difference is noise, or too small to matter
    slower,   ///< than the best, by a rank test and by at least the least effect
    dropped,  ///< too slow in the selection to go on
    failed,
  };
  Verdict verdict = Verdict::dropped;
  int launches = 0;      ///< all of them
  double median = 0;     ///< of the launches that count for the verdict; 0 without any
  Interval interval;     ///< 95 %, for a repeat of these launches; equal ends for one launch
  double slower_by = 0;  ///< relative shift against the best
  double p = 1;          ///< that the shift is chance, corrected for the number of finalists
};

/// One tuning. Candidates are numbers from 0, the reference.
class Race {
 public:
  /// Launches of a finalist: fewer could not tell anything after the correction.
  static constexpr int kFinalLaunches = 5;
  /// Candidates in the final, beside the reference.
  static constexpr std::size_t kFinalists = 3;
  /// Smaller differences do not matter.
  static constexpr double kLeastEffect = 0.03;
  static constexpr double kSignificance = 0.05;

  /// `launches` is how many there may be; the final gets what the selection leaves, but no less than it needs.
  Race(std::size_t settings, int launches);
  /// Returns the least number of launches that a race of `settings` candidates takes.
  static int fewest_launches(std::size_t settings);

  /// The candidate to launch now; none when the race is over.
  std::optional<std::size_t> next() const;
  /// Records the step time of the candidate `next`. \pre next(), seconds > 0
  void record(double seconds);
  /// Drops the candidate `next`, which could not be launched.
  void fail();

  int launched() const { return launched_; }
  int planned() const;
  /// The verdicts so far, by candidate.
  std::vector<Standing> standings() const;

 private:
  struct Setting {
    std::vector<double> selection, final;
    bool failed = false;
  };
  std::size_t at() const;
  const std::vector<double>& counting(std::size_t setting) const;
  void advance();
  void end_round();
  void judge(std::vector<Standing>& standings) const;

  std::vector<Setting> settings_;
  std::vector<std::size_t> left_;  ///< not dropped; the reference first
  std::size_t place_ = 0;          ///< in the round
  int round_ = 0;
  int launches_;
  int launched_ = 0;
  int final_rounds_ = 0;  ///< still to come; 0 during the selection and when all is over
  bool in_final_ = false;
};

}  // namespace hbench
