// Patterns, and what stands beside what they find: thousands, the rest of a number, the next line.

#include <gmock/gmock.h>

#include <chrono>

#include "analysis/import/number_pattern.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::number_pieces_test {
namespace {

std::vector<double> found(const std::string& expression, std::string_view text) {
  std::vector<double> all;
  const NumberPattern pattern(
      {.name = "a", .expression = expression, .unit = "s", .better = {}, .take = TakeNumbers::median});
  const ImportedOutput output = pattern.read(text, "a.log");
  for (const Sample& sample : output.cases.at(0).samples) all.push_back(sample.value);
  return all;
}

constexpr std::string_view kTable = "Sort   100   2   8.3 ms\n        41.7 us   41.2 us   42.6 us\n";

TEST(NumberPieces, AreWholeNumbersWithThousandsAndOverLines) {
  struct Row {
    std::string expression;
    std::string_view text;
    std::vector<double> values;
  };
  for (const Row& row : {
           Row{"([0-9,]+) ns/iter", "bench: 135 ns/iter\nbench: 18,149 ns/iter\n", {135, 18149}},
           Row{"bench: +([0-9.,]+) ", "bench: 1,018,149.5 ns\n", {1018149.5}},
           Row{"step ([0-9.e-]+)", "step 1.5e-3 s\n", {1.5e-3}},
           Row{"[0-9]+-([0-9]+) ms", "2-5 ms\n", {5}},
           Row{"step-([0-9]+)", "step-12\n", {12}},
           Row{"v[0-9]+[.][0-9]+[.]([0-9]+)", "v1.2.3\n", {3}},
           Row{"([0-9]+) ms", "-----12 ms ...13 ms +14 ms\n", {12, 13, 14}},
           Row{"(-?[.][0-9]+) ms", ".5 ms\n", {.5}},
           Row{"step ([0-9.,eE+-]+)", "step 1.5e-3 s\n", {1.5e-3}},
           Row{"([0-9]+) of [0-9]+ GPUs", "12 of 16 GPUs\n", {12}},
           Row{"^[0-9]+,([0-9]+),", "3,412,508\n", {412}},
           Row{"(?s)Sort.*?\\d ms\\s+([0-9.]+) us", kTable, {41.7}},
           Row{"^Sort.*\\n +([0-9.]+)", kTable, {41.7}},
           Row{"\"b\": \\{\\n *\"value\": ([0-9]+)",
               "{\n \"a\": {\n  \"value\": 1},\n \"b\": {\n  \"value\": 2}\n}\n",
               {2}},
       })
    EXPECT_EQ(found(row.expression, row.text), row.values) << row.expression;
}

TEST(NumberPieces, ThatCutANumberAreRefused) {
  const std::string take_all = "let its group take all of it: ([0-9.,]+)",
                    take_sign = "let its group take all of it: ([0-9.,-]+)",
                    take_exponent = "let its group take all of it: ([0-9.,eE+-]+)",
                    comma = "a comma stands before each three digits (18,149), and a point before the fraction (1.5)";
  struct Row {
    std::string expression;
    std::string_view text;
    std::string why, cure;
  };
  for (const Row& row : {
           Row{"bench: +([0-9.]+)", "a\nbench: 18,149 ns\n", "a.log:2: the pattern takes '18' of the number 18,149",
               take_all},
           Row{"([0-9.]+) ns/iter", "18,149.5 ns/iter\n", "a.log:1: the pattern takes '149.5' of the number 18,149.5",
               take_all},
           Row{".*([0-9]) ms", "took 12.5 ms\n", "a.log:1: the pattern takes '5' of the number 12.5", take_all},
           Row{"took ([0-9]+)", "took 12.5 ms\n", "a.log:1: the pattern takes '12' of the number 12.5", take_all},
           Row{"took ([0-9.]+)", "took 1.5e-3 s\n", "a.log:1: the pattern takes '1.5' of the number 1.5e-3",
               take_exponent},
           Row{"([0-9]+)e", "-2e-3 s\n", "a.log:1: the pattern takes '2' of the number -2e-3", take_exponent},
           Row{"([0-9]+) ms", "took .333 ms\n", "a.log:1: the pattern takes '333' of the number .333", take_all},
           Row{"([0-9]+) ms", "took -5 ms\n", "a.log:1: the pattern takes '5' of the number -5", take_sign},
           Row{"([0-9.]+) ms", "x=-.5 ms\n", "a.log:1: the pattern takes '.5' of the number -.5", take_sign},
           Row{"(?s)Sort\\s+([0-9])", "a\nSort\n\n 100\n", "a.log:4: the pattern takes '1' of the number 100",
               take_all},
           Row{"took ([0-9,]+)", "took 1,5 s\n", "a.log:1: '1,5' is no finite number above 0", comma},
           Row{"took ([0-9,]+)", "took 1234,567 s\n", "a.log:1: '1234,567' is no finite number above 0", comma},
       })
    expect_error([&] { found(row.expression, row.text); }, ExitCode::usage, testing::Eq(row.why),
                 testing::Eq(row.cure));
}

double found_in(const std::string& unit, const std::string& expression, std::string_view text) {
  const NumberPattern pattern({.name = "a", .expression = expression, .unit = unit, .better = BetterValue::higher});
  return pattern.read(text, "a.log").cases.at(0).samples.at(0).value;
}

TEST(NumberPieces, OfNumbersInAnotherWayOfWritingAreRefused) {
  struct Row {
    std::string unit, expression;
    std::string_view text, why;
  };
  for (const Row& row : {
           Row{"tok/s", "tps: ([0-9.]+)", "tps: 17.9K\n", "'17.9' of the number 17.9K"},
           Row{"tok/s", "tps: ([0-9.]+)k", "tps: 56.20k\n", "'56.20' of the number 56.20k"},
           Row{"tok/s", "tps: ([0-9.]+)", "tps: 1.05Mtok/s\n", "'1.05' of the number 1.05Mtok/s"},
           Row{"MB/s", "bw ([0-9.]+)", "bw 2.5GB/s\n", "'2.5' of the number 2.5GB/s"},
           Row{"s", "took ([0-9.]+)", "took 12.5ms\n", "'12.5' of the number 12.5ms"},
           Row{"s", "real\\s+([0-9.]+)", "real\t4m19.085s\n", "'4' of the number 4m19.085s"},
           Row{"s", "m([0-9.]+)s", "real\t4m19.085s\n", "'19.085' of the number 4m19.085s"},
           Row{"min", "took ([0-9.]+)", "took 1h4m\n", "'1' of the number 1h4m"},
           Row{"ms", "took ([0-9.]+)", "took 1_234.5 ms\n", "'1' of the number 1_234.5"},
           Row{"ms", "([0-9.]+) ms", "took 1_234.5 ms\n", "'234.5' of the number 1_234.5"},
           Row{"ms", "took ([0-9.]+)",
               "took 1\xe2\x80\x99"
               "234.5 ms\n",
               "'1' of the number 1\xe2\x80\x99"
               "234.5"},
           Row{"ms", "took ([0-9.]+)", "took 12 345 ms\n", "'12' of the number 12 345"},
           Row{"ms", "([0-9]+) ms", "took 1 012 345 ms\n", "'345' of the number 1 012 345"},
           Row{"ms", "([0-9.,]+) ms",
               "took 1\xc2\xa0"
               "234,5 ms\n",
               "'234,5' of the number 1\xc2\xa0"
               "234,5"},
       })
    expect_error([&] { found_in(row.unit, row.expression, row.text); }, ExitCode::usage, testing::HasSubstr(row.why),
                 testing::StartsWith("print it as one number, such as 12345.6; "));
}

TEST(NumberPieces, OfClockTimesAndOfPointsBetweenThousandsAreRefused) {
  const std::string clock = "clock times are not read: print seconds, such as 83.45";
  struct Row {
    std::string expression;
    std::string_view text;
    std::string why, cure;
  };
  for (const Row& row : {
           Row{"m:ss\\): ([0-9.]+)", "time (h:mm:ss or m:ss): 1:23.45\n", "takes '1' of the number 1:23.45", clock},
           Row{"Elapsed.*:([0-9.]+)", "Elapsed: 1:23.45\n", "takes '23.45' of the number 1:23.45", clock},
           Row{"system ([0-9:]+)", "0.01system 0:01.23elapsed 99%CPU\n", "takes '0:01' of the number 0:01.23", clock},
           Row{"Time: ([0-9]+)", "Training | Elapsed Time: 0:12:34 | Steps: 1\n", "takes '0' of the number 0:12:34",
               clock},
           Row{"Time: ([0-9:]+)", "Elapsed Time: 0:12:34 | Steps: 1\n", "'0:12:34' is no finite number", clock},
           Row{"zeit: ([0-9.]+)", "Laufzeit: 1.234,56 ms\n", "takes '1.234' of the number 1.234,56",
               "print it as one number"},
           Row{"satz: ([0-9.]+)", "Durchsatz: 12.345,6 Bilder/s\n", "takes '12.345' of the number 12.345,6",
               "print it as one number"},
       })
    expect_error([&] { found(row.expression, row.text); }, ExitCode::usage, testing::HasSubstr(row.why),
                 testing::StartsWith(row.cure));
  EXPECT_EQ(found("([0-9.]+) s", "gpu 1:12.5 s\n"), std::vector<double>{12.5});
  EXPECT_EQ(found("^([0-9.]+),", "12.345,67,8\n"), std::vector<double>{12.345});
}

TEST(NumberPieces, BesideOtherNumbersAndTheirOwnUnitAreWhole) {
  struct Row {
    std::string unit, expression;
    std::string_view text;
    double value;
  };
  for (const Row& row : {
           Row{"Ktok/s", "tps: ([0-9.]+)", "tps: 17.9K\n", 17.9},
           Row{"tok/s", "tps: ([0-9.]+)", "tps: 17.9tok/sec\n", 17.9},
           Row{"MiB", "peak ([0-9]+)", "peak 812M\n", 812},
           Row{"ms", "took ([0-9.]+)", "took 12.5ms\n", .0125},
           Row{"x", "speedup ([0-9.]+)", "speedup 2.5x\n", 2.5},
           Row{"ms", "iter [0-9]+ ([0-9]+)", "iter 12 345 ms\n", .345},
           Row{"ms", "([0-9]+) ms", "iter 1000 250 ms, gpu_1_125\n", .25},
           Row{"ms", "at [0-9-]+ ([0-9]+)", "at 2026-11-20 250 ms\n", .25},
       })
    EXPECT_DOUBLE_EQ(found_in(row.unit, row.expression, row.text), row.value) << row.text;
}

// A text without an end of numbers was looked through once for each of them.
TEST(NumberPieces, AreFoundInTimeThatGrowsWithTheText) {
  std::string digits;
  for (int i = 0; i < 20'000; ++i) digits += "1,";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(found("(?s)([0-9])", digits).size(), 20'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hbench::number_pieces_test
