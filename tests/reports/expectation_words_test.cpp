/// The first line of `hbench expect`, and the word that its JSON has for it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/expect/expectation.hpp"

namespace hbench::expectation_words_test {
namespace {

std::string verdict_of(const Document& document) { return std::get<Verdict>(document.blocks.front()).text; }

TrainingExpectation training(double measured) {
  TrainingExpectation found;
  found.asked.gpus = 8;
  found.asked.profile = "lab";
  found.measured = measured;
  found.expected = 100;
  found.low = 25;
  found.high = 140;
  found.alone = 120;
  found.peak = 300;
  found.modelled = true;
  found.widest = "the rate of one GPU";
  found.narrowed_by = "its samples/s alone";
  return found;
}

TEST(ExpectationInWords, SaysOfATrainingWhatItIsAndWhy) {
  struct {
    double measured;
    const char *line, *word;
  } const rows[] = {
      {110,
       "110 samples/s pass: 100 (25 to 140) samples/s are expected of 8 GPUs of lab. Most of so wide a band is "
       "the rate of one GPU (known by: its samples/s alone).",
       "pass"},
      {79,
       "79 samples/s may well be normal: 100 (25 to 140) samples/s are expected of 8 GPUs of lab. Most of so wide a "
       "band is the rate of one GPU (known by: its samples/s alone).",
       "inconclusive"},
      {50,
       "50 samples/s are inconclusive: 100 (25 to 140) samples/s are expected of 8 GPUs of lab, and 50 may be 2.8 "
       "times too few. Most of so wide a band is the rate of one GPU (known by: its samples/s alone).",
       "inconclusive"},
      {20, "20 samples/s are slow: 100 (25 to 140) samples/s are expected of 8 GPUs of lab, 5 times as many.", "slow"},
      {10,
       "10 samples/s are slow: 100 (25 to 140) samples/s are expected of 8 GPUs of lab, 10 times as many. Nothing that "
       "is often wrong with a cluster costs so much: check first that the log counts samples of all GPUs, and that "
       "model and batch are these.",
       "slow"},
      {150,
       "150 samples/s are fast: 100 (25 to 140) samples/s are expected of 8 GPUs of lab. A GPU is faster "
       "than the 15 samples/s that are modelled (give yours with --single-gpu-rate), or the batch, the sequence length "
       "or the precision is another.",
       "fast"},
      {301,
       "301 samples/s are an error: at the peak of their arithmetic 8 GPUs compute 300. Another unit "
       "(tokens), number of GPUs or precision?",
       "error"}};
  for (const auto& row : rows) {
    EXPECT_EQ(verdict_of(training_expectation_document(training(row.measured))), row.line);
    const auto json = nlohmann::json::parse(training_expectation_json(training(row.measured)));
    EXPECT_EQ(json.at("verdict"), row.word) << row.measured;
  }
}

TEST(ExpectationInWords, BlameNoOtherJobWhereACauseExplainsIt) {
  TrainingExpectation found = training(10);
  found.suspicions.push_back({.what = "a sick network", .check = "a check", .expected = 11});
  EXPECT_EQ(verdict_of(training_expectation_document(found)),
            "10 samples/s are slow: 100 (25 to 140) samples/s are expected of 8 GPUs of lab, 10 times as many. What "
            "explains it best: a sick network.");
  found.suspicions.front().fitted = true;
  EXPECT_NE(verdict_of(training_expectation_document(found)).find("Nothing"), std::string::npos);
}

Expectation collectives(double measured) {
  ExpectedSize size;
  size.asked.collective.name = "all-reduce";
  size.asked.collective.bytes = 1 << 30;
  size.asked.gpus = 16;
  size.measured = measured;
  size.expected = 0.01;
  size.low = 0.007;
  size.high = 0.016;
  size.floor = 0.001;
  Expectation found{.profile = "lab", .sizes = {size}};
  found.suspicions.push_back({.what = "something", .check = "a check"});
  return found;
}

TEST(ExpectationInWords, SaysOfCollectivesWhatTheyAreAndWhatThatMayBe) {
  struct {
    double measured;
    const char *line, *word;
  } const rows[] = {
      {0.02, "0 of 1 size pass for lab. Slow: 1GiB, 2 times as long as expected. It looks like something.", "slow"},
      {0.015,
       "0 of 1 size pass for lab. Inconclusive: 1GiB, 1.5 times as long as expected. As far as the library and the "
       "network are modelled, anything from 7000 to 16000 us of 1GiB would be normal: the same on nodes that are well, "
       "for hbench calibrate --from, says more. It may be this: something.",
       "inconclusive"},
      {0.0005,
       "Error: 1GiB, sooner than the links of lab carry the bytes at all. Is it another cluster, another unit, or "
       "another "
       "number of ranks?",
       "error"}};
  for (const auto& row : rows) {
    EXPECT_EQ(verdict_of(expectation_document(collectives(row.measured))), row.line);
    const auto json = nlohmann::json::parse(expectation_json(collectives(row.measured)));
    EXPECT_EQ(json.at("verdict"), row.word);
    EXPECT_EQ(json.at("sizes").at(0).at("verdict"), row.word);
  }
  Expectation several = collectives(0.02);
  several.suspicions.front().off = 0.1;
  several.suspicions.push_back({.what = "another thing", .off = 0.29});
  several.suspicions.push_back({.what = "a third", .off = 0.31});
  EXPECT_EQ(verdict_of(expectation_document(several)),
            "0 of 1 size pass for lab. Slow: 1GiB, 2 times as long as expected. It looks like something, or another "
            "thing (below: what tells them apart).");
  Expectation failed = collectives(0.01);
  failed.suspicions.clear();
  failed.failures = {"a.txt:7: 9 elements were wrong", "a.txt:8: 3 elements were wrong"};
  EXPECT_EQ(verdict_of(expectation_document(failed)),
            "Failed: a.txt:7: 9 elements were wrong, and 1 more. 1 of 1 size pass for lab.");
  EXPECT_EQ(nlohmann::json::parse(expectation_json(failed)).at("verdict"), "failed");
  Expectation asked = collectives(0.01);
  asked.sizes.front().measured.reset();
  EXPECT_TRUE(nlohmann::json::parse(expectation_json(asked)).at("verdict").is_null());
}

}  // namespace
}  // namespace hbench::expectation_words_test
