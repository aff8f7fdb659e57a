// What is said of made-up launches of two ranks. Times in milliseconds.

#include "analysis/track/causes.hpp"

#include <random>

#include "tests/support/matchers.hpp"

namespace hbench::track_causes_test {
namespace {

/// Of one rank in a step of about 100 ms.
struct Work {
  double forward = 30, backward = 50, straggler = 2, exposed = 10, optimizer = 5;
};

void add_step(std::vector<Sample>& samples, int launch, int rank, int iteration, const Work& work, double scale = 1) {
  const auto add = [&](const char* metric, double value) {
    samples.push_back({.launch = launch,
                       .rank = rank,
                       .iteration = iteration,
                       .metric = metric,
                       .value = value * scale * 1e-3,
                       .unit = "s"});
  };
  add("ledger/compute", work.forward + work.backward);
  add("backward_seconds", work.backward);
  add("ledger/straggler", work.straggler);
  add("ledger/exposed", work.exposed);
  add("ledger/optimizer", work.optimizer);
  add("ledger/unexplained", 0.1);
}

/// Runs of five launches with three traced steps each; launches and steps scatter by 1 %.
class Launches {
 public:
  explicit Launches(unsigned seed) : random_(seed) {}

  std::vector<std::vector<Sample>> runs(int count, const std::vector<Work>& ranks, double deviation = 0.01) {
    std::normal_distribution<double> noise(1, deviation);
    std::vector<std::vector<Sample>> all;
    for (int run = 0; run < count; ++run) {
      std::vector<Sample>& samples = all.emplace_back();
      for (int launch = 0; launch < 5; ++launch) {
        const double luck = noise(random_);
        for (int iteration = 20; iteration < 23; ++iteration)
          for (std::size_t rank = 0; rank < ranks.size(); ++rank)
            add_step(samples, launch, static_cast<int>(rank), iteration, ranks[rank], luck * noise(random_));
      }
    }
    return all;
  }

 private:
  std::mt19937 random_;
};

TEST(FindCauses, NamesThePartThatGrew) {
  Launches launches(1);
  const Causes why = find_causes({.runs = launches.runs(6, {{}, {}}), .environment = {}},
                                 {.runs = launches.runs(1, {{.exposed = 18}, {.exposed = 18}}), .environment = {}});
  ASSERT_THAT(why.grown, SizeIs(1));
  EXPECT_EQ(why.grown[0].part, "exposed");
  EXPECT_NEAR(why.grown[0].growth().value, 0.008, 0.0005);
  EXPECT_FALSE(why.slow_rank);
  ASSERT_THAT(why.sentences, SizeIs(1));
  EXPECT_EQ(why.sentences[0], "Exposed communication grew by 7.92 ms, from 9.98 ms to 17.9 ms: +8.2 % of the step.");
}

// Rank 1 needs 8 ms more in its backward pass, for which rank 0 waits.
TEST(FindCauses, NamesTheRankThatIsSlowAndItsPart) {
  Launches launches(2);
  const Causes why = find_causes({.runs = launches.runs(6, {{}, {}}), .environment = {}},
                                 {.runs = launches.runs(1, {{.straggler = 10}, {.backward = 58}}), .environment = {}});
  ASSERT_TRUE(why.slow_rank);
  EXPECT_EQ(why.slow_rank->rank, 1);
  EXPECT_EQ(why.slow_rank->part, "backward");
  EXPECT_NEAR(why.slow_rank->growth.value, 0.008, 0.001);
  EXPECT_NEAR(why.slow_rank->others.value, 0, 0.001);
  EXPECT_EQ(why.sentences.front(),
            "Rank 1 is slow: its backward pass takes 7.52 ms longer than in the baseline, and the others wait for it.");
  ASSERT_THAT(why.grown, SizeIs(2));
  EXPECT_THAT((std::vector{why.grown[0].part, why.grown[1].part}), UnorderedElementsAre("compute", "straggler"));
}

TEST(FindCauses, FindsNoSlowRankWhereAllAreSlow) {
  Launches launches(3);
  const Causes why = find_causes({.runs = launches.runs(6, {{}, {}}), .environment = {}},
                                 {.runs = launches.runs(1, {{.backward = 58}, {.backward = 58}}), .environment = {}});
  EXPECT_FALSE(why.slow_rank);
  ASSERT_THAT(why.grown, SizeIs(1));
  EXPECT_EQ(why.grown[0].words, "compute, in the backward pass,");
}

TEST(FindCauses, SaysThatNothingStandsOutBetweenEqualLaunches) {
  Launches launches(4);
  const Causes why = find_causes({.runs = launches.runs(6, {{}, {}}), .environment = {{"cpu", "a"}}},
                                 {.runs = launches.runs(1, {{}, {}}), .environment = {{"cpu", "a"}}});
  EXPECT_THAT(why.grown, IsEmpty());
  EXPECT_FALSE(why.slow_rank);
  EXPECT_THAT(why.facts, IsEmpty());
  EXPECT_THAT(why.sentences,
              ElementsAre("No part of the step stands out: none grew by more than its launches scatter."));
}

// Five launches a side, and thirty runs against one; noise of 0.3 % and of 3 %.
TEST(FindCauses, SeldomNamesAPartBetweenEqualLaunches) {
  Launches launches(5);
  constexpr int kTrials = 250;
  for (const double deviation : {0.003, 0.03})
    for (const int runs : {1, 8}) {
      int named = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        const Causes why = find_causes({.runs = launches.runs(runs, {{}, {}}, deviation), .environment = {}},
                                       {.runs = launches.runs(1, {{}, {}}, deviation), .environment = {}});
        named += !why.grown.empty() || why.slow_rank ? 1 : 0;
      }
      EXPECT_LE(named, kTrials / 100) << deviation << ", " << runs << " runs";
    }
}

TEST(FindCauses, NamesFactsThatDiffer) {
  const CausesSide baseline{.runs = {}, .environment = {{"gpu_driver", "550"}, {"kernel", "6.1"}, {"machine ab", "x"}}};
  const CausesSide head{.runs = {},
                        .environment = {{"gpu_driver", "560"}, {"kernel", "6.1"}, {"test_delay", "1:5 ms"}}};
  const Causes why = find_causes(baseline, head);
  ASSERT_THAT(why.facts, SizeIs(2));
  EXPECT_THAT(why.sentences,
              ElementsAre("The baseline has no traced steps, so it is not known which part of the step grew.",
                          "The fact gpu_driver differs: '550' before, '560' now.",
                          "The fact test_delay differs: not stated before, '1:5 ms' now."));
}

TEST(FindCauses, LooksForNoPartsOfAStepWhereThereAreNoSteps) {
  EXPECT_THAT(find_causes({}, {.runs = {}, .environment = {}, .has_steps = false}).sentences, IsEmpty());
}

TEST(FindCauses, SaysWhereLaunchesAreTooFew) {
  Launches launches(6);
  std::vector<Sample> one;
  add_step(one, 0, 0, 20, {.exposed = 50});
  add_step(one, 0, 1, 20, {.exposed = 50});
  const Causes why =
      find_causes({.runs = launches.runs(6, {{}, {}}), .environment = {}}, {.runs = {one}, .environment = {}});
  EXPECT_THAT(why.grown, IsEmpty());
  EXPECT_THAT(why.sentences,
              ElementsAre("The head has traced steps of 1 launch, too few to say which part of the step grew."));
}

// Samples of timed steps of older versions are no parts.
TEST(FindCauses, DoesNotReadWhatOlderVersionsStoredOfTimedSteps) {
  std::vector<Sample> old;
  for (int launch = 0; launch < 5; ++launch)
    old.push_back({.launch = launch, .metric = "ledger/exposed", .value = 0.01, .unit = "s"});
  const Causes why = find_causes({.runs = {old}, .environment = {}}, {.runs = {old}, .environment = {}});
  EXPECT_EQ(why.sentences.front(), "The baseline has no traced steps, so it is not known which part of the step grew.");
}

}  // namespace
}  // namespace hbench::track_causes_test
