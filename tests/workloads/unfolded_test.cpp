// Where ranks meet in collectives one walk stands for all of them. Here each has a walk of its own, and a bucket leaves
// once all of them are ready for it: whatever folding leaves out would be another last digit.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "tests/collectives/clusters.hpp"
#include "workloads/simulation/rank_walk.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::unfolded_test {
namespace {

using namespace ::hbench::support;

StepTimeline tensors() {
  return {.batch = 3,
          .forward = Seconds(0.010),
          .backward = Seconds(0.020),
          .update = Seconds(0.0013),
          .gradients = {{"d", 1000, Seconds(0.0041)},
                        {"c", 70'000, Seconds(0.0097)},
                        {"b", 2000, Seconds(0.0101)},
                        {"a", 3001, Seconds(0.0183)}}};
}

/// Ranks that all do the same iteration of a plan, each in its own time.
class Unfolded : private Carrier {
 public:
  Unfolded(const Profile& profile, const TrainingStrategy& strategy, const StepTimeline& timeline, int ranks)
      : profile_(profile),
        strategy_(strategy),
        nobody_(nullptr),
        network_(profile, {.workers = ranks}),
        in_flight_(network_, plans_, timeline, strategy, nobody_) {
    const RankWalk::Request request{
        .profile = profile, .timeline = timeline, .strategy = strategy, .world = {.workers = ranks}};
    for (Rank rank = 0; rank < ranks; ++rank) {
      RankWalk::Request mine = request;
      mine.rank = rank;
      Carrier& carrier = *this;
      walks_.push_back(std::make_unique<RankWalk>(mine, carrier));
    }
  }

  /// \param late by rank: the time of its passes, by that of the timeline
  std::vector<StepTimes> step(int iteration, const std::vector<double>& late) {
    left_.clear();
    in_flight_.begin();
    for (std::size_t rank = 0; rank < walks_.size(); ++rank) walks_[rank]->begin(iteration, late[rank]);
    while (!std::ranges::all_of(walks_, [](const auto& walk) { return walk->ended(); })) event();
    std::vector<StepTimes> times;
    for (const auto& walk : walks_) times.push_back(walk->finish());
    return times;
  }

  const StepPlan& plan() const { return walks_.front()->plan(); }

 private:
  struct Left {
    int ranks = 0;
    double ready = 0, coding = 0;
  };

  void event() {
    const double network = in_flight_.next(now());
    double next = network;
    for (const auto& walk : walks_)
      if (!walk->ended()) next = std::min({next, walk->next_compute(), walk->next_timer()});
    // A rank moves to its own events alone, as the folded one does: stretches cut in two would round in other ways.
    for (const auto& walk : walks_) {
      if (walk->ended() || (network != next && std::min(walk->next_compute(), walk->next_timer()) != next)) continue;
      const double compute = walk->next_compute();
      walk->move_to(next);
      if (compute == next)
        walk->compute_event();
      else if (network != next)
        walk->timer_event();
    }
    if (network != next) return;
    if (const std::optional<int> bucket = in_flight_.advance(next))
      for (const auto& walk : walks_) walk->arrived(*bucket);
  }

  double now() const {
    double latest = 0;
    for (const auto& walk : walks_) latest = std::max(latest, walk->now());
    return latest;
  }

  void carry(RankWalk&, const LaunchedBucket& leaving) override {
    left_.resize(std::max(left_.size(), static_cast<std::size_t>(leaving.number) + 1));
    Left& left = left_[static_cast<std::size_t>(leaving.number)];
    left.ready = std::max(left.ready, leaving.departure.at);
    left.coding = leaving.departure.coding;
    if (++left.ranks < static_cast<int>(walks_.size())) return;
    const Task& task = plan().task(leaving.task);
    CollectiveModel model(profile_, {.workers = static_cast<int>(walks_.size())}, {}, task.groups);
    const AlgorithmChoice algorithm = algorithm_of(strategy_, task, 4 * leaving.elements);
    const CompressorChoice compressor = compressor_of(strategy_, task);  // which this cluster codes by in no time
    const Encoding encoding{.codec = compressor.verbatim() ? nullptr : compressor.codec.get()};
    const Seconds time = model.answer(algorithm, encoding, leaving.elements).time;
    in_flight_.queue(leaving.number, left.ready, left.coding + time.value, left.coding,
                     task.groups.within(profile_.gpus_per_domain()));
  }

  const Profile& profile_;
  const TrainingStrategy& strategy_;
  SpanWriter nobody_;
  Network network_;
  ConcurrentPlans plans_;
  InFlight in_flight_;
  std::vector<std::unique_ptr<RankWalk>> walks_;
  std::vector<Left> left_;  ///< by bucket
};

/// The network slows compute beside it.
Profile cluster(double straggler) {
  Profile profile = round_cluster();
  profile.straggler = straggler;
  profile.overlap_slowdown = 0.07;
  return profile;
}

/// Of a fusion policy that looks at bytes alone: with one that wakes up, ranks would have to agree on what leaves.
TrainingStrategy strategy_of(const std::string& method, const char* algorithm, const char* fusion) {
  return {.method = parse_method(method), .algorithm = parse_algorithm_rule(algorithm), .fusion = parse_fusion(fusion)};
}

constexpr int kRanks = 4;
constexpr double kStraggler = 0.03;

TEST(Unfolded, EndsWithTheSlowestRankToTheLastDigitAsTheFoldedDoes) {
  const Profile profile = cluster(kStraggler);
  const double late = 1 + kStraggler * expected_largest_normal(kRanks);
  for (const char* method : {"synchronous", "zero:1", "zero:2", "fsdp", "fsdp-keep", "hsdp:2"})
    for (const char* algorithm : {"ring", "direct"})
      for (const char* fusion : {"none", "ddp:64KiB:8KiB"}) {
        SCOPED_TRACE(::testing::Message() << method << ", " << algorithm << ", " << fusion);
        const TrainingStrategy strategy = strategy_of(method, algorithm, fusion);
        const StepTimeline timeline = tensors();
        const StepTimes folded = StepSimulator(profile, {.workers = kRanks}).run(timeline, strategy);
        Unfolded unfolded(profile, strategy, timeline, kRanks);
        const std::vector<double> lates{1, late, 0.98, 1.004};
        if (strategy.fusion.fusion->learns) unfolded.step(0, lates);
        const StepTimes slowest = unfolded.step(0, lates)[1];
        EXPECT_EQ(slowest.step.value, folded.step.value);
        EXPECT_EQ(slowest.exposed.value, folded.exposed.value);
        EXPECT_EQ(slowest.slowdown.value, folded.slowdown.value);
        EXPECT_EQ(slowest.communication.value, folded.communication.value);
        EXPECT_EQ(slowest.buckets, folded.buckets);
      }
}

// Every rank draws anew in each iteration: the folded step has the expected slowest of them.
TEST(Unfolded, TakesAsLongInTheMeanAsTheExpectedSlowestRank) {
  const Profile profile = cluster(kStraggler);
  const TrainingStrategy strategy = strategy_of("synchronous", "ring", "none");
  const StepTimeline timeline = tensors();
  Unfolded unfolded(profile, strategy, timeline, kRanks);
  std::mt19937_64 generator(20260101);
  std::normal_distribution<double> draw(1, kStraggler);
  constexpr int kSteps = 400;
  double sum = 0;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> late;
    for (int rank = 0; rank < kRanks; ++rank) late.push_back(draw(generator));
    sum += unfolded.step(0, late).front().step.value;
  }
  const double folded = StepSimulator(profile, {.workers = kRanks}).run(timeline, strategy).step.value;
  EXPECT_NEAR(sum / kSteps / folded, 1, 0.003);
}

}  // namespace
}  // namespace hbench::unfolded_test
