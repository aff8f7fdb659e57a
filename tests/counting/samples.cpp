// Tests of every outcome, for tests/counting/check.

#include <gtest/gtest.h>

#include <csignal>

namespace {

TEST(AllGood, One) {}
TEST(AllGood, Two) {}
TEST(Mixed, Passes) {}
TEST(Mixed, Fails) { FAIL() << "    <testcase status=\"run\" name=\"NoTest\" classname=\"NoSuite\""; }
TEST(Mixed, IsSkipped) { GTEST_SKIP() << "no <reason> & \"none\""; }
TEST(Crashes, BeforeItsResultsAreWritten) { raise(SIGKILL); }
TEST(Separate, One) {}
TEST(Separate, Two) { GTEST_SKIP(); }
TEST(DISABLED_Suite, IsNotRun) { FAIL(); }

class Values : public testing::TestWithParam<const char*> {};
TEST_P(Values, MayHoldAnything) {}
INSTANTIATE_TEST_SUITE_P(Odd, Values, testing::Values("a;b", "[c]", "$d", "e # f"));

}  // namespace
