// Cases and their baseline, launched in turn: the order, what is kept, and what a failure costs.

#include <fmt/format.h>

#include <map>

#include "analysis/points/points.hpp"
#include "analysis/points/timed_steps.hpp"
#include "analysis/records/machine_facts.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::turns_test {
namespace {

Case named(const std::string& algorithm) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.workload = "resnet18";
  asked.batch_per_gpu = 16;
  asked.strategy.algorithm = algorithm;
  return asked;
}

/// Launches that take as long as they are told to, or fail.
class Launches : public testing::Test {
 protected:
  void take(const std::vector<std::string>& names, const TurnLimits& limits, bool with_baseline = true) {
    cases_.clear();
    for (const std::string& name : names) cases_.push_back(named(name));
    std::vector<const Case*> cases;
    for (const Case& asked : cases_) cases.push_back(&asked);
    take_turns(with_baseline ? &baseline_ : nullptr, cases, limits,
               {.launch = [&](const Case& asked, int number) { return launch(asked.strategy.algorithm, number); },
                .keep =
                    [&](const Case& asked, const CaseResult& addition) {
                      CaseResult& whole = kept[asked.strategy.algorithm];
                      whole.asked = asked;
                      whole.status = addition.status;
                      whole.failure = addition.failure;
                      whole.exit_code = addition.exit_code;
                      whole.samples.insert(whole.samples.end(), addition.samples.begin(), addition.samples.end());
                    },
                .finished = [&](const Case& asked) { finished.push_back(asked.strategy.algorithm); },
                .interrupted = [&] { return order.size() >= interrupt_after; }});
  }

  std::size_t launches_of(const std::string& name) { return timed_steps(kept[name]).launches.size(); }

  /// Seconds of a launch; of one that fails, 0; of a case that cannot be launched, less.
  std::function<double(const std::string& name, int number)> seconds = [](const std::string& name, int) {
    return name == "none" ? 1.0 : 2.0;
  };
  std::vector<std::string> order;  ///< `ring 0`
  std::map<std::string, CaseResult> kept;
  std::vector<std::string> finished;
  std::size_t interrupt_after = 1000;

 private:
  LaunchOutcome launch(const std::string& name, int number) {
    order.push_back(fmt::format("{} {}", name, number));
    const double time = seconds(name, number);
    if (time < 0) throw Error(ExitCode::environment, "no mpirun", "install it");
    if (time == 0)
      return {{{.launch = number, .metric = std::string(metric::kLaunchLost), .value = 5}},
              ExitCode::lost_rank,
              "rank 1 was lost"};
    std::vector<Sample> samples;
    for (int i = 0; i < 3; ++i)
      samples.push_back({.launch = number, .iteration = i, .metric = "step_seconds", .value = time, .unit = "s"});
    return {.samples = samples};
  }

  const Case baseline_ = named("none");
  std::vector<Case> cases_;
};

using TakeTurns = Launches;

TEST_F(TakeTurns, GoForwardsAndBackwards) {
  take({"ring", "ps"}, {.launches = 3, .more = 0});
  EXPECT_THAT(order, ElementsAre("ring 0", "ps 0", "none 0", "none 1", "ps 1", "ring 1", "ring 2", "ps 2", "none 2"));
  EXPECT_THAT(finished, ElementsAre("none", "ring", "ps"));
}

TEST_F(TakeTurns, GiveEachLaunchTheBaselineOfItsRound) {
  seconds = [](const std::string& name, int number) { return (name == "none" ? 1.0 : 2.0) * (1 + number); };
  take({"ring"}, {.launches = 3, .more = 0});
  const std::vector<PairedLaunch> pairs = paired_launches(kept["ring"]);
  ASSERT_EQ(pairs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const double time = 1.0 + static_cast<double>(i);
    EXPECT_THAT(pairs[i].baseline, ElementsAre(time, time, time));
    EXPECT_THAT(pairs[i].own, ElementsAre(2 * time, 2 * time, 2 * time));
  }
  EXPECT_EQ(make_points({kept["ring"]}).front().efficiency, 0.5);
}

TEST_F(TakeTurns, CutManyCasesIntoBlocksWithBaselinesOfTheirOwn) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMostBesideABaseline + 1; ++i) names.push_back(std::to_string(i));
  take(names, {.launches = 2, .more = 0});
  EXPECT_EQ(std::ranges::count_if(order, [](const std::string& name) { return name.starts_with("none"); }), 4);
  EXPECT_EQ(launches_of("none"), 4u);
  for (const std::string& name : names) EXPECT_EQ(paired_launches(kept[name]).size(), 2u) << name;
}

TEST_F(TakeTurns, PutAsManyCasesAsABlockHoldsIntoOne) {
  for (const std::size_t count : {kMostBesideABaseline - 1, kMostBesideABaseline}) {
    order.clear();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{} of {}", i, count));
    take(names, {.launches = 2, .more = 0});
    EXPECT_EQ(std::ranges::count_if(order, [](const std::string& name) { return name.starts_with("none"); }), 2)
        << count;
  }
}

TEST_F(TakeTurns, RepeatALaunchThatFailedAndKeepTheOthers) {
  seconds = [](const std::string& name, int number) { return name == "none" ? 1.0 : number == 1 ? 0.0 : 2.0; };
  take({"ring"}, {.launches = 3, .more = 0});
  EXPECT_EQ(kept["ring"].status, CaseStatus::done);
  EXPECT_EQ(launches_of("ring"), 3u);
  EXPECT_THAT(make_points({kept["ring"]}).front().warnings, ElementsAre(HasSubstr("1 launch failed")));
}

TEST_F(TakeTurns, GiveUpACaseOfWhichTwoLaunchesFailAndGoOnWithTheOthers) {
  seconds = [](const std::string& name, int number) { return name == "ring" && number > 0 ? 0.0 : 1.0; };
  take({"ring", "ps"}, {.launches = 4, .more = 0});
  EXPECT_EQ(kept["ring"].status, CaseStatus::done) << "of one launch that went well";
  EXPECT_EQ(launches_of("ring"), 1u);
  EXPECT_EQ(launches_of("ps"), 4u);
  EXPECT_EQ(std::ranges::count(order, "ring 3"), 0);
}

TEST_F(TakeTurns, FailACaseWithoutAGoodLaunchByItsReason) {
  seconds = [](const std::string& name, int) { return name == "ring" ? 0.0 : name == "ps" ? -1.0 : 1.0; };
  take({"ring", "ps"}, {.launches = 3, .more = 0});
  EXPECT_EQ(kept["ring"].status, CaseStatus::failed);
  EXPECT_EQ(kept["ring"].failure, "rank 1 was lost");
  EXPECT_EQ(kept["ring"].exit_code, static_cast<int>(ExitCode::lost_rank));
  EXPECT_EQ(kept["ps"].failure, "no mpirun; install it");
  EXPECT_EQ(std::ranges::count(order, "ps 1"), 0) << "that will not change";
  EXPECT_EQ(launches_of("none"), 3u);
}

TEST_F(TakeTurns, WithOneLaunchTryOnce) {
  seconds = [](const std::string& name, int) { return name == "ring" ? 0.0 : 1.0; };
  take({"ring"}, {.launches = 1, .more = 2});
  EXPECT_THAT(order, ElementsAre("ring 0", "none 0"));
  EXPECT_EQ(kept["ring"].status, CaseStatus::failed);
}

TEST_F(TakeTurns, LaunchMoreOfWhatScattersButNotForEver) {
  seconds = [](const std::string& name, int number) { return name == "ring" && number % 2 == 0 ? 2.6 : 2.0; };
  take({"ring", "ps"}, {.launches = 3, .more = 2});
  EXPECT_EQ(launches_of("ring"), 5u);
  EXPECT_EQ(launches_of("ps"), 3u);
  EXPECT_EQ(paired_launches(kept["ring"]).size(), 5u);
  kept.clear();
  take({"ring"}, {.launches = 2, .more = 2});
  EXPECT_EQ(launches_of("ring"), 2u) << "two launches say nothing about scatter";
}

TEST_F(TakeTurns, KeepWhatIsDoneWhenInterrupted) {
  interrupt_after = 5;  // within the third launch of the second round
  take({"ring", "ps"}, {.launches = 3, .more = 0});
  EXPECT_EQ(order.size(), 5u);
  EXPECT_EQ(launches_of("none"), 2u);
  EXPECT_EQ(launches_of("ring"), 1u);
  EXPECT_EQ(launches_of("ps"), 1u) << "what was cut off is no launch";
  EXPECT_TRUE(finished.empty());
}

TEST_F(TakeTurns, NeedNoBaseline) {
  take({"ring", "ps"}, {.launches = 2, .more = 0}, false);
  EXPECT_THAT(order, ElementsAre("ring 0", "ps 0", "ps 1", "ring 1"));
}

TEST_F(TakeTurns, LaunchABaselineThatIsKnownOnlyBesideAPartner) {
  seconds = [](const std::string& name, int number) { return name == "ring" && number == 0 ? 0.0 : 1.0; };
  take({"ring"}, {.launches = 1, .more = 0, .baseline_is_known = true});
  EXPECT_THAT(order, ElementsAre("ring 0")) << "its only launch failed";
  order.clear();
  take({"direct"}, {.launches = 2, .more = 0, .baseline_is_known = true});
  EXPECT_THAT(order, ElementsAre("direct 0", "none 0", "none 1", "direct 1"));
}

TEST_F(TakeTurns, LaunchABaselineAloneWhereThereIsNothingElse) {
  take({}, {.launches = 3, .more = 2});
  EXPECT_EQ(launches_of("none"), 3u);
  EXPECT_THAT(finished, ElementsAre("none"));
}

}  // namespace
}  // namespace hbench::turns_test
