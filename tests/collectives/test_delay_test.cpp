#include "collectives/base/test_delay.hpp"

#include <chrono>

#include "collectives/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::test_delay_test {
namespace {

TEST(TestDelay, NamesARankAndATime) {
  const TestDelay delay = parse_test_delay("1:5ms");
  EXPECT_EQ(delay.rank, 1);
  EXPECT_DOUBLE_EQ(delay.time.value, 0.005);
  EXPECT_TRUE(delay.is_set());
  EXPECT_EQ(delay.text(), "1:5 ms");
  EXPECT_EQ(parse_test_delay(delay.text()), delay);
  EXPECT_TRUE(delay.is_among(2));
  EXPECT_FALSE(delay.is_among(1)) << "a rank that there is not is not slowed down";
  EXPECT_FALSE(TestDelay().is_among(2));
}

TEST(TestDelay, OfNoTextDelaysNobody) {
  EXPECT_FALSE(parse_test_delay("").is_set());
  EXPECT_EQ(parse_test_delay("").text(), "");
}

TEST(TestDelay, IsRefusedWhereItIsNotARankAndATime) {
  for (const char* text : {"5ms", "1:", ":5ms", "-1:5ms", "1.5:5ms", "x:5ms", "1:5", "1:0ms", "1:-5ms", "1:61s",
                           " 1:5ms", "1 :5ms", "1:5ms:", "99999999999:5ms", "2000000:1ms", "1:nan s"}) {
    expect_error([&] { parse_test_delay(text); }, ExitCode::usage, HasSubstr("HBENCH_TEST_DELAY="), ::testing::_);
  }
}

TEST(TestDelay, SleepsOnItsRankAlone) {
  const auto time_of = [](const TestDelay& delay) {
    const auto begin = std::chrono::steady_clock::now();
    delay.sleep(1);
    return seconds_since(begin);
  };
  EXPECT_GE(time_of({.rank = 1, .time = Seconds(0.02)}), 0.02);
  EXPECT_LT(time_of({.rank = 0, .time = Seconds(5)}), 4) << "another rank slept";
  EXPECT_LT(time_of({}), 4);
}

}  // namespace
}  // namespace hbench::test_delay_test
