#pragma once

/// A training step in virtual time: a recorded timeline, the plan of a method, the fusion policy and the schedule of
/// the measured run, and a cluster profile.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/span.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/collective_model.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "workloads/simulation/step_times.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// Expected largest of `ranks` draws from a standard normal distribution: how many deviations the
/// slowest rank is late. By numerical integration; exact to 1e-9. 0 for one rank.
double expected_largest_normal(int ranks);

/// Simulates steps of one world on one cluster. Keeps the schedule and the times of collectives it has seen,
/// so that many workloads and strategies are quick. Not thread-safe. `profile` outlives it.
class StepSimulator {
 public:
  /// Asks `stop` again and again while it simulates, after which it can be used no more. Simulators of one cluster,
  /// whatever its rates, share `plans`.
  StepSimulator(const Profile& profile, const World& world, StopRequested stop = {},
                std::shared_ptr<ConcurrentPlans> plans = std::make_shared<ConcurrentPlans>());

  /// A step after the policy has learned what it learns. `network_factor` makes every communication that much
  /// slower (the profile's uncertainty); the figures of the strategy's preset are taken at `end`. \pre
  /// `refuse_strategy` has nothing against the strategy in this world. \throws as `stop_if`.
  ///
  /// Where `spans` is not null it gets the step's: rank 0 is one of the many that compute as fast as the timeline, and
  /// rank 1 the slowest (there is none where all are alike). Buckets leave, and arrive, at the same time everywhere and
  /// are rank 0's.
  ///
  /// Where ranks do not meet in collectives (`in_lockstep`) each has a clock of its own, and its passes vary by the
  /// profile's straggler figure: times are means over ranks and iterations, and spans are rank 0's alone.
  ///
  /// The plan of the strategy's method says what follows what; where a plan starts again after several iterations, the
  /// times are their means, and the spans are the last one's. The update takes as long on all ranks. Workers do it,
  /// with servers too (they add up, as BytePS's and those of hbench's own engine do), but where the framework's servers
  /// apply gradients (`Preset::servers_update`): there it is a part of the backward pass, beside communication, since
  /// each tensor is applied when its own gradient was reduced.
  ///
  /// Of a model that is divided among ranks the timeline is of one micro-batch on one GPU that has all of it, and times
  /// are as `step_times.hpp` has them. \pre its timeline has blocks, and `refuse_division` has nothing against it.
  StepTimes run(const StepTimeline& timeline, const TrainingStrategy& strategy, double network_factor = 1,
                End end = End::stated, std::vector<Span>* spans = nullptr);
  /// Elements of the buckets that followed each other on one stream so far, each size once for each strategy.
  std::vector<std::int64_t> bucket_sizes() const;

 private:
  friend class StepRun;
  Network& network(double factor);
  /// Where ranks do not meet in collectives.
  StepTimes run_freely(const StepTimeline& timeline, const TrainingStrategy& strategy, double network_factor, End end,
                       std::vector<Span>* spans);
  /// Where the model is divided.
  StepTimes run_divided(const StepTimeline& timeline, const TrainingStrategy& strategy, double network_factor, End end,
                        std::vector<Span>* spans);
  /// Each rank sends as many elements to the one that is `distance` further, all at once.
  Seconds shift_time(int distance, std::int64_t elements);
  struct Exchanged {
    Seconds time;
    std::optional<Moved> sent;  ///< as `StepTimes::sent`, once
  };
  /// One bucket of a collective of the plan on an idle network, coding included.
  Exchanged exchange(const TrainingStrategy& strategy, const Task& task, std::int64_t elements);
  /// Every rank's encoding to all: their lengths, then as many bytes as they may have; each is decoded everywhere.
  Exchanged gather(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, std::int64_t elements);
  /// Two all-reduces of a factor of half the bytes each.
  Exchanged low_rank(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, std::int64_t elements);
  Exchanged collective(const AlgorithmChoice& algorithm, const Encoding& encoding, std::int64_t elements,
                       const RankGroups& groups = {});
  Exchanged both_sides(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, std::int64_t elements);
  /// Returns the time of `encodes` encodings and `decodes` decodings, as measured or at the compressor's declared
  /// traffic.
  Seconds coding_time(const CompressorChoice& compressor, std::int64_t elements, int encodes, int decodes) const;

  const Profile* profile_;
  StopRequested stop_;
  World world_;
  Network network_;                   ///< of collectives that share it
  std::map<double, Network> slowed_;  ///< the same by network factor
  double lateness_;
  std::shared_ptr<ConcurrentPlans> plans_;
  std::map<RankGroups, CollectiveModel> collectives_;  ///< of those that follow each other
  /// By collective, groups, algorithm, compressor and elements.
  std::map<std::tuple<CollectiveKind, RankGroups, std::string, std::string, std::int64_t>, Exchanged> exchanged_;
};

}  // namespace hbench
