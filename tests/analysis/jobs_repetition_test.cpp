#include "analysis/job/exchange_log.hpp"

#include <gmock/gmock.h>

#include <random>

namespace hbench::jobs_repetition_test {
namespace {

/// Letters as symbols; capital ones are of a class of their own.
std::vector<Symbol> symbols(const std::string& letters) {
  std::vector<Symbol> all;
  for (const char letter : letters) all.push_back({letter, letter >= 'A' && letter <= 'Z' ? letter - 'A' + 1 : 0});
  return all;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::size_t period_of(const std::string& letters) {
  const auto repetition = find_repetition(symbols(letters));
  return repetition ? repetition->period : 0;
}

TEST(Repetition, IsTheShortestPeriod) {
  EXPECT_EQ(period_of(repeated("abcde", 9)), 5);
  EXPECT_EQ(period_of(repeated("a", 9)), 1);
  EXPECT_EQ(period_of(repeated("aab", 9)), 3);
}

TEST(Repetition, MayBeginAnywhereAndAfterOthers) {
  EXPECT_EQ(period_of("xyz" + repeated("abcde", 9) + "ab"), 5);
  EXPECT_EQ(period_of("de" + repeated("abcde", 9)), 5);
}

TEST(Repetition, BearsExtraSymbolsNowAndThen) {
  const auto repetition = find_repetition(symbols(repeated(repeated("abcde", 10) + "x", 5)));
  ASSERT_TRUE(repetition);
  EXPECT_EQ(repetition->period, 5);
  EXPECT_EQ(repetition->stretches.size(), 5);
}

TEST(Repetition, IsNotAPartOfAStepThatRepeatsItself) {
  const std::string fsdp = repeated("a", 32) + repeated("ar", 32);
  EXPECT_EQ(period_of(repeated(fsdp, 2)), 96);
  EXPECT_EQ(period_of(repeated(fsdp, 20)), 96);
}

TEST(Repetition, HasAllClasses) {
  EXPECT_EQ(period_of(repeated(repeated("t", 128) + "bcd", 5)), 1);
  EXPECT_EQ(period_of(repeated(repeated("T", 128) + "DDD", 5)), 131);
}

TEST(Repetition, IsAbsentWhereNothingRepeats) {
  EXPECT_EQ(period_of(""), 0);
  EXPECT_EQ(period_of("a"), 0);
  EXPECT_EQ(period_of("aa"), 0);
  EXPECT_EQ(period_of("abab"), 0);
  EXPECT_EQ(period_of("abcdefghijklmnopqrstuvw"), 0);
  EXPECT_EQ(period_of("abcdabcd"), 4);
}

TEST(Repetition, IsFoundInALongSequence) {
  const std::string step = repeated("a", 100) + repeated("ab", 400) + "cdef";
  const auto repetition = find_repetition(symbols("xyz" + repeated(step, 600)));
  ASSERT_TRUE(repetition);
  EXPECT_EQ(repetition->period, step.size());
  ASSERT_EQ(repetition->stretches.size(), 1);
  EXPECT_EQ(repetition->stretches.front().begin, 3);
  EXPECT_EQ(repetition->stretches.front().end, 3 + 600 * step.size());
}

TEST(Repetition, LiesWithinTheSequenceAndRepeats) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string letters;
    while (letters.size() < 60) letters += random() % 3 == 0 ? "ab" : random() % 2 == 0 ? "abc" : "A";
    const std::vector<Symbol> sequence = symbols(letters);
    const auto repetition = find_repetition(sequence);
    if (!repetition) continue;
    for (const Stretch& stretch : repetition->stretches) {
      ASSERT_LE(stretch.end, sequence.size());
      ASSERT_GE(stretch.end - stretch.begin, 2 * repetition->period);
      for (std::size_t i = stretch.begin; i + repetition->period < stretch.end; ++i)
        ASSERT_EQ(sequence[i], sequence[i + repetition->period]);
    }
  }
}

}  // namespace
}  // namespace hbench::jobs_repetition_test
