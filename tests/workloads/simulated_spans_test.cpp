// The spans of simulated steps, against time lines that can be drawn by hand.

#include <algorithm>

#include "tests/support/matchers.hpp"
#include "tests/workloads/simulated_step.hpp"

namespace hbench::simulated_spans_test {
namespace {

using namespace ::hbench::support;

struct SimulatedSpans {
  StepTimes times;
  std::vector<Span> spans;
};

SimulatedSpans simulate_spans(const Profile& profile, const char* algorithm, const char* fusion, bool overlap,
                              World world = {.workers = 2}, Seconds update = Seconds(0)) {
  StepTimeline timeline = three_tensors(5, 10, 20);
  timeline.update = update;
  TrainingStrategy strategy = ring(fusion, overlap);
  strategy.algorithm = parse_algorithm_rule(algorithm);
  SimulatedSpans result;
  result.times = StepSimulator(profile, world).run(timeline, strategy, 1, End::stated, &result.spans);
  return result;
}

/// `0-10 10-30`: of one rank and kind, in microseconds.
std::vector<std::string> times_of(const std::vector<Span>& spans, SpanKind kind, Rank rank = 0) {
  std::vector<std::string> texts;
  for (const Span& span : spans)
    if (span.kind == kind && span.rank == rank)
      texts.push_back(std::to_string(std::lround(span.begin.value * 1e6)) + "-" +
                      std::to_string(std::lround(span.end.value * 1e6)));
  return texts;
}

// Nothing leaves before 30 ms; then 3 + 4 + 5 ms, one after the other.
TEST(SimulatedSpans, ShowComputeAndThenTheBuckets) {
  const SimulatedSpans step = simulate_spans(round_cluster(), "ring", "none", false);
  EXPECT_THAT(times_of(step.spans, SpanKind::step), ElementsAre("0-42000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::forward), ElementsAre("0-10000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::backward), ElementsAre("10000-30000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::wait), ElementsAre("30000-42000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::communication), ElementsAre("30000-33000", "33000-37000", "37000-42000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::negotiation), IsEmpty()) << "a policy that agrees on nothing";
  EXPECT_THAT(times_of(step.spans, SpanKind::step, 1), IsEmpty()) << "all ranks are alike";
}

// Gradients come 15, 20 and 30 ms after the step's beginning and leave at once.
TEST(SimulatedSpans, ShowBucketsBesideTheBackwardPass) {
  const SimulatedSpans step = simulate_spans(round_cluster(), "ring", "none", true);
  EXPECT_THAT(times_of(step.spans, SpanKind::communication), ElementsAre("15000-18000", "20000-24000", "30000-35000"));
}

// Servers' messages share the network: what each bucket takes is another test's subject; here, that all are shown.
TEST(SimulatedSpans, ShowBucketsThatAreInFlightTogether) {
  const SimulatedSpans step = simulate_spans(round_cluster(), "ps", "none", true, {.workers = 2, .servers = 1});
  ASSERT_EQ(times_of(step.spans, SpanKind::communication).size(), 3U);
  double last = 0;
  for (const Span& span : step.spans)
    if (span.kind == SpanKind::communication) last = std::max(last, span.end.value);
  EXPECT_NEAR(last, step.times.step.value, 1e-12);
}

// 96 MB/s: 24,000 bytes of three tensors are read and written once before the exchange, 0.5 ms, and once after it.
TEST(SimulatedSpans, ShowPackingBeforeAndAfterTheExchange) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(96e6);
  const SimulatedSpans step = simulate_spans(profile, "ring", "threshold:1GiB", true);
  EXPECT_THAT(times_of(step.spans, SpanKind::coding), ElementsAre("30000-30500", "38500-39000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::communication), ElementsAre("30500-38500"));
}

// Gradients come at 15, 20 and 30 ms; the last cycle ends at 30 ms, and the all-reduce of bits takes 1 ms.
TEST(SimulatedSpans, ShowNegotiation) {
  const SimulatedSpans step = simulate_spans(round_cluster(), "ring", "horovod", true);
  const auto agreed = times_of(step.spans, SpanKind::negotiation);
  ASSERT_EQ(agreed.size(), 3U);
  EXPECT_EQ(agreed.back(), "30000-31000");
}

// The slower of two ranks is late by 1/sqrt(pi) deviations of 10 % of 30 ms: 1693 us.
TEST(SimulatedSpans, ShowTheSlowestRankAsRankOne) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  const SimulatedSpans step = simulate_spans(profile, "ring", "none", false);
  EXPECT_THAT(times_of(step.spans, SpanKind::backward, 0), ElementsAre("10000-30000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::wait, 0), ElementsAre("30000-43693"));
  EXPECT_THAT(times_of(step.spans, SpanKind::backward, 1), ElementsAre("10564-31693"));
}

TEST(SimulatedSpans, ShowTheOptimizerAfterTheLastBucketOnEveryRank) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  const SimulatedSpans step = simulate_spans(profile, "ring", "none", false, {.workers = 2}, Seconds(0.004));
  for (const Rank rank : {0, 1}) {
    EXPECT_THAT(times_of(step.spans, SpanKind::optimizer, rank), ElementsAre("43693-47693"));
    EXPECT_THAT(times_of(step.spans, SpanKind::step, rank), ElementsAre("0-47693"));
  }
  EXPECT_THAT(times_of(step.spans, SpanKind::wait, 0), ElementsAre("30000-43693"));
  const SimulatedSpans alone = simulate_spans(profile, "ring", "none", false, {.workers = 1}, Seconds(0.004));
  EXPECT_THAT(times_of(alone.spans, SpanKind::backward), ElementsAre("10000-30000"));
  EXPECT_THAT(times_of(alone.spans, SpanKind::optimizer), ElementsAre("30000-34000"));
}

TEST(SimulatedSpans, OfOneWorkerAreItsPasses) {
  const SimulatedSpans step = simulate_spans(round_cluster(), "ring", "none", true, {.workers = 1});
  EXPECT_THAT(times_of(step.spans, SpanKind::forward), ElementsAre("0-10000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::backward), ElementsAre("10000-30000"));
  EXPECT_THAT(times_of(step.spans, SpanKind::step), ElementsAre("0-30000"));
}

TEST(SimulatedSpans, ChangeNoTime) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  profile.overlap_slowdown = 0.5;
  const TrainingStrategy strategy{
      .algorithm = parse_algorithm_rule("ring"), .placement = nullptr, .fusion = parse_fusion("ddp"), .overlap = true};
  const StepTimes without = StepSimulator(profile, {.workers = 4}).run(three_tensors(5, 10, 20), strategy);
  std::vector<Span> spans;
  const StepTimes with =
      StepSimulator(profile, {.workers = 4}).run(three_tensors(5, 10, 20), strategy, 1, End::stated, &spans);
  EXPECT_EQ(without.step, with.step);
  EXPECT_FALSE(spans.empty());
}

}  // namespace
}  // namespace hbench::simulated_spans_test
