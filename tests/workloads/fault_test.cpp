#include "workloads/step/fault.hpp"

#include <chrono>

#include "collectives/base/units.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::fault_test {
namespace {

TEST(Faults, AreReadAndWrittenAlike) {
  for (const char* text : {"kill:rank=2@step=50", "delay:rank=1:20 ms@step=10..", "delay:rank=0:1 s@step=3..7",
                           "delay:rank=4:5 us@step=0"}) {
    const auto faults = parse_faults(text, "--inject");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].text(), text);
  }
  const auto both = parse_faults("kill:rank=2@step=50,delay:rank=1:20ms@step=10..", "--inject");
  EXPECT_THAT(both, ElementsAre(PlantedFault{.rank = 2, .from = 50, .until = 50},
                                PlantedFault{.rank = 1, .delay = Seconds(0.02), .from = 10}));
  EXPECT_THAT(parse_faults("", "--inject"), IsEmpty());
}

TEST(Faults, AreDueOnTheirRankAndInTheirSteps) {
  const PlantedFault delay{.rank = 1, .delay = Seconds(0.02), .from = 3, .until = 5};
  EXPECT_TRUE(delay.is_due(1, 3) && delay.is_due(1, 5));
  EXPECT_FALSE(delay.is_due(0, 3) || delay.is_due(1, 2) || delay.is_due(1, 6));
  const auto begin = std::chrono::steady_clock::now();
  delay.strike();
  EXPECT_GE(seconds_since(begin), 0.02);
}

TEST(Faults, ThatAreNoneAreRefusedWithTheirText) {
  for (const char* text : {"kil:rank=2@step=50", "kill", "kill:rank=2", "kill:2@step=50", "kill:rank=-1@step=50",
                           "kill:rank=x@step=50", "kill:rank=2@step=50..", "kill:rank=2@step=-1",
                           "kill:rank=2@step=99999999999", "delay:rank=1@step=10", "delay:rank=1:20@step=10",
                           "delay:rank=1:0ms@step=10", "delay:rank=1:2min@step=10", "delay:rank=1:20ms@step=10..5",
                           "delay:rank=1:20ms@step=10..x", "kill:rank=1@step=5,", ",", "kill:rank=1@step=5,,"})
    expect_error([&] { parse_faults(text, "--inject"); }, ExitCode::usage, HasSubstr("--inject "),
                 HasSubstr("kill:rank=1@step=50"));
}

}  // namespace
}  // namespace hbench::fault_test
