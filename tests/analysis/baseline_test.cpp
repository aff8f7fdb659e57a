#include "analysis/points/timed_steps.hpp"

#include <functional>

#include "example_results.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::baseline_test {
namespace {

/// The fourth run's, on GPUs in bf16.
CaseResult measured() {
  CaseResult result{.asked = example_case()};
  result.asked.machine = "0123456789abcdef";
  result.asked.training = {.device = "gpu", .executor = "nccl", .precision = "bf16"};
  result.machine_in_words = "2 x H100";
  result.producer = {.run = 4, .version = "0.2.0", .started_at = "", .labels = {{"commit", "abc"}}};
  return result;
}

CaseResult baseline() {
  CaseResult result = measured();
  result.asked.gpus = 1;
  result.asked.strategy = {.algorithm = "none", .overlap = false};
  result.asked.training.executor = "";
  return result;
}

using Change = std::function<void(CaseResult&)>;
std::string why_none(const Change& change) {
  std::vector<CaseResult> candidates{baseline()};
  change(candidates.front());
  const BaselineChoice choice = choose_baseline(measured(), candidates);
  EXPECT_EQ(choice.result == nullptr, !choice.why_none.empty());
  return choice.why_none;
}

TEST(Baseline, IsTheSameWorkByOneProcessAtTheSamePlaceFromTheSameCode) {
  EXPECT_THAT(why_none([](CaseResult&) {}), IsEmpty());
  EXPECT_THAT(why_none([](CaseResult& r) { r.producer.labels["branch"] = "main"; }), IsEmpty());
  EXPECT_THAT(why_none([](CaseResult& r) { r.asked.source = "in other words"; }), IsEmpty());
  EXPECT_THAT(why_none([](CaseResult& r) { r.asked.strategy.fusion = "none"; }), IsEmpty()) << "it fuses nothing";
}

TEST(Baseline, IsAskedForWithoutOverlapAsItIsStored) {
  for (const bool overlap : {false, true}) {
    Case asked = measured().asked;
    asked.strategy.overlap = overlap;
    EXPECT_EQ(asked.baseline().question(), baseline().asked.question());
  }
}

TEST(Baseline, IsNeverOfAnotherPrecisionOrDevice) {
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.training.precision = "tf32"; }),
            "the baseline is of precision tf32, this of bf16");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.training.precision = ""; }),
            "the baseline is of precision none, this of bf16");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.training.device = ""; }),
            "the baseline is of device none, this of gpu");
}

TEST(Baseline, IsNeverOfOtherWork) {
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.batch_per_gpu = 64; }),
            "the baseline is of batch_per_gpu 64, this of 32");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.image_size = 64; }), "the baseline is of image_size 64, this of 224");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.workload = "vgg16"; }), "no process without communication was timed");
}

TEST(Baseline, IsNeverOfAnotherMachine) {
  EXPECT_EQ(why_none([](CaseResult& r) {
              r.asked.machine = "fedcba9876543210";
              r.machine_in_words = "8 x A100";
            }),
            "the baseline was measured on another machine: 8 x A100; this on 2 x H100");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.profile = "other"; }), "the baseline was measured on other");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.evidence = Evidence::emulated; }),
            "the baseline was emulated on local");
}

TEST(Baseline, IsNeverOfOtherCode) {
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.implementation = "engine/2"; }),
            "the baseline was measured by engine/2 of hbench 0.2.0 at commit abc, this by engine/1 of hbench 0.2.0 at "
            "commit abc");
  EXPECT_EQ(why_none([](CaseResult& r) { r.producer.version = "0.3.0"; }),
            "the baseline was measured by engine/1 of hbench 0.3.0 at commit abc, this by engine/1 of hbench 0.2.0 at "
            "commit abc");
  EXPECT_EQ(why_none([](CaseResult& r) { r.producer.labels.clear(); }),
            "the baseline was measured by engine/1 of hbench 0.2.0, this by engine/1 of hbench 0.2.0 at commit abc");
}

TEST(Baseline, IsNoneThatFailedCommunicatesOrWasNotTimed) {
  EXPECT_EQ(why_none([](CaseResult& r) { r.status = CaseStatus::failed; }),
            "no process without communication was timed");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.strategy.algorithm = "ring"; }),
            "no process without communication was timed");
  EXPECT_EQ(why_none([](CaseResult& r) { r.asked.evidence = Evidence::simulated; }),
            "no process without communication was timed");
}

// A machine is seldom as fast in another run: ring on 2 ranks once fell from 80 to 34 % by a baseline of another day.
TEST(Baseline, IsOfTheSameRunOnly) {
  std::vector<CaseResult> candidates(4, baseline());
  for (int run = 0; run < 4; ++run) candidates[run].producer.run = run == 1 ? 4 : 10 + run;
  EXPECT_EQ(choose_baseline(measured(), candidates).result, &candidates[1]);
  candidates[2].producer.run = 4;
  EXPECT_EQ(choose_baseline(measured(), candidates).result, &candidates[2]) << "the newest of the run";
  candidates.erase(candidates.begin() + 1, candidates.begin() + 3);
  EXPECT_EQ(choose_baseline(measured(), candidates).why_none,
            "the baseline was measured in run 13, this in run 4: the machine may have changed between");
}

}  // namespace
}  // namespace hbench::baseline_test
