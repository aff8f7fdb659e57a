#include "analysis/import/number_pattern.hpp"

#include "analysis/points/tracked_metric.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::number_pattern_test {
namespace {

std::vector<Sample> samples_of(const NumberPatternRequest& request, std::string_view text) {
  const ImportedOutput output = NumberPattern(request).read(text, "a.log");
  EXPECT_EQ(output.cases.size(), 1u);
  EXPECT_EQ(output.cases.front().asked.benchmark, "train");
  return output.cases.front().samples;
}

NumberPatternRequest asked(std::string expression, std::string unit = "", TakeNumbers take = TakeNumbers::only) {
  return {.name = "train", .expression = std::move(expression), .unit = std::move(unit), .better = {}, .take = take};
}

TEST(NumberPattern, IsATimeOrARateByItsUnit) {
  const std::vector<Sample> time = samples_of(asked("step: ([0-9.]+) ms", "ms"), "begin\nstep: 12.5 ms\nend\n");
  ASSERT_EQ(time.size(), 1u);
  EXPECT_EQ(time[0].metric, metric::kBenchmarkSeconds);
  EXPECT_EQ(time[0].unit, "s");
  EXPECT_DOUBLE_EQ(time[0].value, 0.0125);
  const std::vector<Sample> rate = samples_of(asked("([0-9.]+) (images/s)"), "total 812.5 images/s");
  ASSERT_EQ(rate.size(), 1u);
  EXPECT_EQ(rate[0].metric, metric::kBenchmarkRate);
  EXPECT_EQ(rate[0].unit, "images/s");
  EXPECT_DOUBLE_EQ(rate[0].value, 812.5);
}

TEST(NumberPattern, TakesTheUnitThatIsPrintedBesideTheNumber) {
  EXPECT_DOUBLE_EQ(samples_of(asked("took ([0-9.]+) ?(ms|s)"), "took 2s\n")[0].value, 2);
  EXPECT_DOUBLE_EQ(samples_of(asked("took ([0-9.]+) ?(ms|s)"), "took 250 ms\n")[0].value, 0.25);
}

TEST(NumberPattern, OfOtherUnitsSaysWhichWayIsBetter) {
  NumberPatternRequest memory = asked("peak ([0-9]+)", "MiB");
  memory.better = BetterValue::lower;
  EXPECT_EQ(samples_of(memory, "peak 812")[0].metric, metric::kBenchmarkAmount);
  memory.better = BetterValue::higher;
  EXPECT_EQ(samples_of(memory, "peak 812")[0].metric, metric::kBenchmarkRate);
  expect_error([] { NumberPattern(asked("peak ([0-9]+)", "MiB")); }, ExitCode::usage,
               "unit 'MiB' is neither a time nor a rate, so it does not say which value is better",
               "--better lower or --better higher says it, better = \"lower\" in hbench.toml; times are s, ms, us, ns "
               "and min, rates "
               "end with /s");
}

TEST(NumberPattern, OfSeveralNumbersTakesWhatIsAsked) {
  const std::string text = "3 ms\n1 ms\n2 ms\n";
  expect_error([&] { samples_of(asked("([0-9]+) ms", "ms"), text); }, ExitCode::usage,
               "a.log: the pattern finds 3 numbers: 3 in line 1, 1 in line 2, 2 in line 3",
               "add take = \"last\" or take = \"median\", or a pattern that finds one");
  EXPECT_DOUBLE_EQ(samples_of(asked("([0-9]+) ms", "ms", TakeNumbers::last), text)[0].value, 0.002);
  const std::vector<Sample> all = samples_of(asked("([0-9]+) ms", "ms", TakeNumbers::median), text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].iteration, 2);
}

TEST(NumberPattern, TakesNoMedianOfNumbersThatHaveSeveralNames) {
  const auto median_of = [](const std::string& expression, std::string_view text) {
    return samples_of(asked(expression, "ns", TakeNumbers::median), text).size();
  };
  const std::string cure =
      "begin the pattern with the words before one of them (after (?s) those of lines above), and track the others by "
      "commands of their own";
  const std::string benchmarks =
      "BenchmarkSort-8   100  1.8 ns/op\nBenchmarkSort-8   100  1.9 ns/op\nBenchmarkFind-8  7 ns/op\n";
  for (const char* expression : {" ([0-9.]+) ns/op", "(?s) ([0-9.]+) ns/op"})
    expect_error([&] { median_of(expression, benchmarks); }, ExitCode::usage,
                 "a.log:3: this number is of 'BenchmarkFind', and one before it of 'BenchmarkSort', so no median is of "
                 "both",
                 cure);
  expect_error([&] { median_of("mean: ([0-9.]+)", "A\nfast mean: 1\nslow mean: 2\n"); }, ExitCode::usage,
               HasSubstr("of 'slow mean', and one before it of 'fast mean'"), cure);
  expect_error([&] { median_of("([0-9]+) ns", "load 1 ns, store 2 ns\n"); }, ExitCode::usage,
               HasSubstr("of 'store', and one before it of 'load'"), cure);
  const std::string commands =
      "Benchmark 1: fd home\n  Time: 4 ns\n  Range: 3 ns\n\nBenchmark 2: find home\n  Time: 9 ns\n";
  expect_error([&] { median_of("Time: ([0-9.]+)", commands); }, ExitCode::usage,
               HasSubstr("of 'Benchmark find home Time', and one before it of 'Benchmark fd home Time'"), cure);
  EXPECT_EQ(median_of("(?s)Benchmark 2.*?Time: ([0-9.]+)", commands), 1U);
  EXPECT_EQ(median_of("Time: ([0-9.]+)", "Epoch 1\n Time: 4 ns\nEpoch 2\n Time: 3 ns\n"), 2U);
  EXPECT_EQ(median_of("BenchmarkSort.* ([0-9.]+) ns/op", benchmarks), 2U);
  EXPECT_EQ(median_of("([0-9.]+) ns", "gpu0 step 1 lr 1e-3: 5 ns\ngpu1 step 20 lr 0.1: 6 ns\n"), 2U);
  EXPECT_EQ(median_of("([0-9.]+) ns", "runs: 1 ns 2 ns\n3 ns\n"), 3U);
}

// What stands above is a heading where each number has one of its own; a log has any line there.
TEST(NumberPattern, TakesTheMedianWhateverLinesOfALogStandAbove) {
  EXPECT_EQ(samples_of(asked("elapsed \\(ms\\): ([0-9.]+)", "ms", TakeNumbers::median),
                       " iteration 1 | elapsed (ms): 5 |\n iteration 2 | elapsed (ms): 6 |\nsaving checkpoint\n"
                       " iteration 3 | elapsed (ms): 7 |\nvalidation loss\n iteration 4 | elapsed (ms): 8 |\n")
                .size(),
            4U);
}

TEST(NumberPattern, ReadsProgressBarsAndColours) {
  const std::string bar =
      "\rEpoch 0:  1%|#| 795/77 [9:07:58<878:01:48, 41.36s/it]\rEpoch 0:  2%|#| 796/77 [41.5s/it]\n";
  EXPECT_EQ(samples_of(asked("([0-9.]+)s/it", "s/it", TakeNumbers::median), bar).size(), 2U);
  EXPECT_DOUBLE_EQ(samples_of(asked("Epoch 0.*, ([0-9.]+)s/it", "s/it"), bar)[0].value, 41.36);
  EXPECT_EQ(samples_of(asked("step.*tps: ([0-9,]+)", "tokens/s"),
                       "\x1b[31mstep: 1 \x1b[38;2;180;60;0mloss: 7 \x1b[34mtps: \x1b[1m1,202\x1b[0m\n")[0]
                .value,
            1202);
}

TEST(NumberPattern, RefusesWhatIsNoFigure) {
  const auto expect = [](std::string_view text, const std::string& what) {
    expect_error([&] { samples_of(asked("step (\\S+)", "ms"), text); }, ExitCode::usage, what);
  };
  expect("", "a.log: 'step (\\S+)' is in none of its 0 lines");
  expect("step\n", "a.log: 'step (\\S+)' is in none of its 1 line");
  expect("x\nstep nan\n", "a.log:2: 'nan' is no finite number above 0");
  expect("step 0\n", "a.log:1: '0' is no finite number above 0");
  expect("step -3\n", "a.log:1: '-3' is no finite number above 0");
  expect("step 1,5\n", "a.log:1: '1,5' is no finite number above 0");
  expect("step " + std::string(5000, '1'),
         "a.log: 'step (\\S+)' is in none of its 1 line; not searched, as longer than 4096 bytes: 1 line");
  expect_error([] { samples_of(asked("([0-9]+) (\\S+)", "", TakeNumbers::median), "1 ms\n2 images/s\n"); },
               ExitCode::usage, "a.log:2: it is in images/s, and the number before it in s");
  expect_error([] { samples_of(asked("([0-9]+) (\\S+)"), "1 parsec\n"); }, ExitCode::usage,
               "unit 'parsec' is neither a time nor a rate, so it does not say which value is better");
}

// An engine that backtracks would try for ever.
TEST(NumberPattern, TakesLinearTimeWhateverItIs) {
  const std::string digits(4000, '1');
  expect_error([&] { samples_of(asked("((?:[0-9]+)+) ms", "ms"), digits + "x"); }, ExitCode::usage,
               HasSubstr("is in none of its 1 line"));
  EXPECT_EQ(samples_of(asked("^(?:a|aa|1|11)*([0-9])$", "s"), std::string(4000, 'a') + "1")[0].value, 1);
}

TEST(NumberPattern, ReadsBytesThatAreNoUtf8) {
  EXPECT_DOUBLE_EQ(samples_of(asked("\xc2\xb5 .*?([0-9]+) us", "us"), "\xff \xc2\xb5 \xfe 5 us\n")[0].value, 5e-6);
}

TEST(NumberPattern, RefusesExpressionsThatSayTooLittle) {
  expect_error([] { NumberPattern(asked("step ([0-9", "ms")); }, ExitCode::usage,
               HasSubstr("is no regular expression"));
  std::string deep;
  for (int i = 0; i < 1500; ++i) deep += "(?:";
  expect_error([&] { NumberPattern(asked(deep + "([0-9]+)" + std::string(1500, ')'), "ms")); }, ExitCode::usage,
               "a pattern of 6008 characters");
  EXPECT_EQ(samples_of(asked(deep.substr(0, 3 * 900) + "([0-9]+)" + std::string(900, ')'), "s"), "7")[0].value, 7);
  expect_error([] { NumberPattern(asked("(a)(?=b)", "ms")); }, ExitCode::usage, HasSubstr("is no regular expression"));
  expect_error([] { NumberPattern(asked("step [0-9]+", "ms")); }, ExitCode::usage, "'step [0-9]+' has 0 groups");
  expect_error([] { NumberPattern(asked("(a)(b)(c)", "ms")); }, ExitCode::usage, "'(a)(b)(c)' has 3 groups");
  expect_error([] { NumberPattern(asked("step ([0-9]+)")); }, ExitCode::usage, "a pattern without a unit");
  expect_error([] { NumberPattern(asked("([0-9]+) (ms)", "ms")); }, ExitCode::usage,
               "the unit stands in the second group of the pattern and beside it");
}

}  // namespace
}  // namespace hbench::number_pattern_test
