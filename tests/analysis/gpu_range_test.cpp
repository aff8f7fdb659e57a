#include "analysis/prediction/request.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::gpu_range_test {
namespace {

TEST(GpuRange, DoublesAndIncludesItsEnd) {
  EXPECT_THAT(parse_gpu_range("1..128"), ElementsAre(1, 2, 4, 8, 16, 32, 64, 128));
  EXPECT_THAT(parse_gpu_range("3..20"), ElementsAre(3, 6, 12, 20));
  EXPECT_THAT(parse_gpu_range("5..5"), ElementsAre(5));
}

TEST(GpuRange, CountsInStepsAndIncludesItsEnd) {
  EXPECT_THAT(parse_gpu_range("1..12:1"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(parse_gpu_range("2..11:4"), ElementsAre(2, 6, 10, 11));
}

TEST(GpuRange, TakesListsAndMixturesAscendingWithoutRepeats) {
  EXPECT_THAT(parse_gpu_range("8"), ElementsAre(8));
  EXPECT_THAT(parse_gpu_range("16,1,4"), ElementsAre(1, 4, 16));
  EXPECT_THAT(parse_gpu_range("7,1..4,2,10..12:1"), ElementsAre(1, 2, 4, 7, 10, 11, 12));
}

TEST(GpuRange, GoesToTheLargestWorld) {
  EXPECT_THAT(parse_gpu_range("32768..65536"), ElementsAre(32768, 65536));
  EXPECT_EQ(parse_gpu_range("1..65536:1").size(), 65536);
}

/// A range that makes no sense, and what its message says about it.
struct Bad {
  const char* text;
  const char* why;
};

class BadGpuRange : public testing::TestWithParam<Bad> {};

TEST_P(BadGpuRange, IsOneLineThatQuotesItWithACure) {
  const auto& [text, why] = GetParam();
  expect_error([text = text] { parse_gpu_range(text); }, ExitCode::usage,
               AllOf(HasSubstr(std::string("--gpus ") + text), HasSubstr(why)), HasSubstr("1..128"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadGpuRange,
    testing::Values(Bad{"0..8", "at least 1, not 0"}, Bad{"-4", "at least 1, not -4"},
                    Bad{"8..1", "runs backwards; you may mean 1..8"}, Bad{"abc", "'abc' is not a number"},
                    Bad{"", "'' is not a number"}, Bad{"1..", "'' is not a number"}, Bad{"..8", "'' is not a number"},
                    Bad{"1...8", "'.8' is not a number"}, Bad{"1,,2", "'' is not a number"},
                    Bad{"1,", "'' is not a number"}, Bad{"1 ,2", "'1 ' is not a number"},
                    Bad{"4x", "'4x' is not a number"}, Bad{"1.5", "'1.5' is not a number"},
                    Bad{"1..128:0", "step is at least 1, not 0"}, Bad{"1..8:-2", "step is at least 1, not -2"},
                    Bad{"1..8:", "'' is not a number"}, Bad{"65537", "65537 GPUs are more than hbench takes (65536)"},
                    Bad{"1..100000", "100000 GPUs are more"},
                    Bad{"99999999999999999999", "99999999999999999999 GPUs are more"}));

}  // namespace
}  // namespace hbench::gpu_range_test
