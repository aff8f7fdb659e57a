// Results of slowed links are emulated, and say what network they are of.

#include <cstdlib>

#include "analysis/records/fingerprint.hpp"
#include "bench/collective/plan.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/sweep/measured_place.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::emulated_test {
namespace {

constexpr const char* kVariable = "HBENCH_EMULATED";
constexpr const char* kNetwork = "3 hosts, 200mbit each way";

class Emulated : public testing::Test {
 protected:
  void SetUp() override { unsetenv(kVariable); }
  void TearDown() override { unsetenv(kVariable); }
};

TEST_F(Emulated, IsWhatTheVariableSays) {
  EXPECT_EQ(emulated_network(), "");
  setenv(kVariable, kNetwork, 1);
  EXPECT_EQ(emulated_network(), kNetwork);
  EXPECT_EQ(local_machine(1).emulated, kNetwork);
  EXPECT_EQ(machine_at_rest().emulated, "") << "who simulates does not mind";
}

/// The variable with which a test makes a rank slow.
class SlowRank : public testing::Test {
 protected:
  void SetUp() override { unsetenv(kDelay); }
  void TearDown() override { unsetenv(kDelay); }

  static constexpr const char* kDelay = "HBENCH_TEST_DELAY";
};

TEST_F(SlowRank, IsAFactOfTheRunAndNotOfTheMachine) {
  const auto without = environment_facts(false);
  EXPECT_FALSE(without.contains("test_delay"));
  setenv(kDelay, "1:5ms", 1);
  EXPECT_EQ(test_delay(), (TestDelay{.rank = 1, .time = Seconds(0.005)}));
  const auto with = environment_facts(false);
  EXPECT_EQ(with.at("test_delay"), "1:5 ms");
  EXPECT_EQ(fingerprint(with, false).digest, fingerprint(without, false).digest);
}

TEST_F(SlowRank, IsRefusedBeforeAnythingIsMeasured) {
  setenv(kDelay, "1:5", 1);
  expect_error([] { environment_facts(false); }, ExitCode::usage, HasSubstr("HBENCH_TEST_DELAY=1:5: "),
               HasSubstr("HBENCH_TEST_DELAY=1:5ms"));
}

TEST(LocalMachine, KnowsItsMemoryItsCoresAndEveryModel) {
  const LocalMachine rest = machine_at_rest(), asked = local_machine(0), more = local_machine(64);
  EXPECT_LT(rest.limits.memory, INT64_MAX);
  EXPECT_GT(asked.limits.memory, 1'000'000);
  EXPECT_LT(asked.limits.memory, INT64_MAX);
  EXPECT_THAT(rest.limits.models, Contains("resnet50"));
  EXPECT_EQ(asked.ranks, asked.cores);
  EXPECT_FALSE(asked.asked_for);
  EXPECT_EQ(more.ranks, 64);
  EXPECT_TRUE(more.asked_for);
}

TEST_F(Emulated, RefusesATextThatIsNoLine) {
  for (const std::string& text : {std::string("two\nlines"), std::string(101, 'x')}) {
    setenv(kVariable, text.c_str(), 1);
    EXPECT_THROW(emulated_network(), Error);
  }
}

TEST_F(Emulated, CasesOfASweepAreComparedWithEachOther) {
  LocalMachine machine = machine_of_two();
  machine.emulated = kNetwork;
  SweepRequest request = small_request();
  request.gpus = {2};
  request.evidence = {Evidence::measured, Evidence::simulated};
  std::size_t timed = 0;
  for (const Case& asked : plan_of(request, machine).cases) {
    if (asked.evidence == Evidence::simulated) continue;
    ++timed;
    EXPECT_EQ(asked.evidence, Evidence::emulated);
    EXPECT_EQ(asked.profile, kNetwork);
  }
  EXPECT_EQ(timed, 2U) << "the ring and its baseline";
}

TEST_F(Emulated, CollectivesSayWhichNetworkTheyAreOf) {
  CollectiveRequest request;
  request.algorithms = {"ring"};
  request.executors = {"threads"};
  CollectiveMachine machine;
  machine.cores = 2;
  for (const char* network : {"", kNetwork}) {
    machine.emulated = network;
    const CollectivePlan plan = make_collective_plan(request, machine, {});
    const Case& asked = plan.sets.at(0).cases.at(0).asked;
    EXPECT_EQ(asked.evidence, machine.emulated.empty() ? Evidence::measured : Evidence::emulated);
    EXPECT_EQ(asked.profile, machine.emulated.empty() ? "local" : kNetwork);
  }
}

}  // namespace
}  // namespace hbench::emulated_test
