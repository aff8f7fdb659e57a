#pragma once

/// The cost of failures, and of nodes that a seller takes back, to a long job: the best time between two checkpoints,
/// and the share of the time that is training which counts. Times in hours. Pure.

#include <optional>

#include "analysis/points/unknowns.hpp"

namespace hbench {

/// These figures are assumed of every cluster.
struct FailureAssumptions {
  /// Hours that one GPU works between failures that end its job: one in 50,700 on 16,384 H100 (Llama 3,
  /// arXiv:2407.21783, 3.3.4: 419 in 54 days), and one in 66,500 on 504 B200 (arXiv:2605.09370).
  double mtbf = 55'000;
  /// The factor by which they may be more or fewer; 1 for what somebody knows.
  double mtbf_factor = 2;
  /// From a failure until the job trains again: the median of 504 B200 (arXiv:2605.09370).
  double restart = 11.0 / 60;
  /// The time that a checkpoint keeps the training waiting; none: by its bytes.
  std::optional<double> checkpoint = {};
  /// The mean time until a node that is bought as spot is taken back; 0: nobody says.
  double eviction = 0;
};

/// The interruptions of one job, or of one replica that trains on its own.
struct Interruptions {
  double failures = 0;    ///< in an hour: each loses what was trained since the last checkpoint; above 0
  double evictions = 0;   ///< in an hour: the seller tells of each, and a last checkpoint is written
  double checkpoint = 0;  ///< keeps the training waiting
  double restart = 0;     ///< from each of them until it trains again
  double factor = 1;      ///< by which there may be more or fewer
  /// Training between two states that survive without a checkpoint, such as means of replicas; 0: there are none, and
  /// checkpoints are as often as is best.
  double interval = 0;
};

/// The progress of a job with interruptions.
struct Pace {
  Interruptions by;
  double interval = 0;  ///< of training, between two checkpoints
  Band share;           ///< of the time, is training that counts

  double between() const { return 1 / (by.failures + by.evictions); }
};

/// Returns the time of training between two checkpoints with which most of the time counts: the exact optimum of
/// `training_share`, of which sqrt(2 checkpoint / failures) is the first term (Young, Communications of the ACM 17,
/// 1974).
double best_interval(const Interruptions& by);

/// Returns the share of the time that is training which counts, where failures are independent of each other and may
/// come while a checkpoint is written or the job starts again (Daly, A higher order estimate of the optimum checkpoint
/// interval for restart dumps, Future Generation Computer Systems 22, 2006). Above 0, however small.
double training_share(const Interruptions& by, double interval);

Pace pace_of(const Interruptions& by);

}  // namespace hbench
