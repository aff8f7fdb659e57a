// Ledgers, stragglers and summaries of steps whose time lines are drawn by hand, in milliseconds.

#include <random>

#include "analysis/trace/ledger.hpp"
#include "analysis/trace/summary.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::trace_test {
namespace {

constexpr double kTolerance = 1e-12;

Span span_of(Rank rank, SpanKind kind, double begin_ms, double end_ms, int bucket = -1) {
  return {.rank = rank,
          .lane = bucket < 0 ? Lane::compute : Lane::communication,
          .kind = kind,
          .begin = Seconds(begin_ms * 1e-3),
          .end = Seconds(end_ms * 1e-3),
          .bucket = bucket};
}

/// A rank that computes until `computed`, waits until `reduced` and applies until `end`.
std::vector<Span> passes(Rank rank, double computed, double reduced, double end, double begin = 0) {
  return {span_of(rank, SpanKind::step, begin, end), span_of(rank, SpanKind::forward, begin + 1, begin + 10),
          span_of(rank, SpanKind::backward, begin + 10, computed), span_of(rank, SpanKind::wait, computed, reduced),
          span_of(rank, SpanKind::optimizer, reduced, end)};
}

std::vector<Span> joined(std::vector<std::vector<Span>> lists) {
  std::vector<Span> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

void expect_parts(const Ledger& ledger, const Ledger& expected) {
  for (const LedgerPart& each : kLedgerParts)
    EXPECT_NEAR((ledger.*each.part).value, (expected.*each.part).value * 1e-3, kTolerance) << each.name;
}

// Rank 0 computes until 30 ms, rank 1 until 35. Buckets of rank 0 are in flight from 20 to 25 (hidden), 33 to 40 (of
// which 5 ms are after the slowest rank's backward pass, and one of these is unpacking) and 43 to 46: from 40 to 43 and
// from 46 to 47 nothing is.
TEST(Ledger, PutsEachMomentOfAStepIntoOnePart) {
  const std::vector<Span> spans =
      joined({passes(0, 30, 47, 50),
              passes(1, 35, 47, 50),
              {span_of(0, SpanKind::communication, 20, 25, 0), span_of(0, SpanKind::communication, 33, 40, 1),
               span_of(0, SpanKind::coding, 39, 40, 1), span_of(0, SpanKind::communication, 43, 46, 2)}});
  const auto ledgers = step_ledgers(spans);
  ASSERT_THAT(ledgers, SizeIs(2));
  EXPECT_EQ(ledgers[0].rank, 0);
  expect_parts(ledgers[0].ledger, {.compute = Seconds(29),
                                   .straggler = Seconds(5),
                                   .exposed = Seconds(7),
                                   .negotiation = Seconds(4),
                                   .coding = Seconds(1),
                                   .optimizer = Seconds(3),
                                   .unexplained = Seconds(1)});
  EXPECT_NEAR(ledgers[0].ledger.step().value, 0.050, kTolerance);
  EXPECT_EQ(ledgers[1].ledger.straggler.value, 0) << "it is the slowest itself";
  EXPECT_NEAR(ledgers[1].ledger.negotiation.value, 0.012, kTolerance) << "no bucket of its own is known";
}

/// A rank that computes until `computed`, waits until 40 ms, applies its part until `applied`, and waits until 60 ms.
std::vector<Span> sharded(Rank rank, double computed, double applied) {
  return {span_of(rank, SpanKind::step, 0, 60),
          span_of(rank, SpanKind::forward, 0, 10),
          span_of(rank, SpanKind::backward, 10, computed),
          span_of(rank, SpanKind::wait, computed, 40),
          span_of(rank, SpanKind::optimizer, 40, applied),
          span_of(rank, SpanKind::wait, applied, 60)};
}

TEST(Ledger, WaitsForTheSlowestRankWheneverRanksMeet) {
  const std::vector<Span> spans =
      joined({sharded(0, 30, 43),
              sharded(1, 36, 50),
              {span_of(0, SpanKind::communication, 30, 40, 0), span_of(0, SpanKind::communication, 44, 60, 1)}});
  const auto ledgers = step_ledgers(spans);
  ASSERT_THAT(ledgers, SizeIs(2));
  expect_parts(
      ledgers[0].ledger,
      {.compute = Seconds(30), .straggler = Seconds(6 + 7), .exposed = Seconds(4 + 10), .optimizer = Seconds(3)});
  EXPECT_EQ(ledgers[1].ledger.straggler.value, 0);
}

TEST(Ledger, OfSeveralIterationsIsTheirMean) {
  std::vector<Span> spans = joined({passes(0, 30, 30, 40), passes(0, 65, 75, 80, 40)});
  std::erase_if(spans, [](const Span& span) { return span.kind == SpanKind::step; });
  spans.push_back(span_of(0, SpanKind::step, 0, 80));
  const Ledger ledger = step_ledgers(spans).front().ledger;
  EXPECT_NEAR(ledger.step().value, 0.040, kTolerance);
  EXPECT_NEAR(ledger.optimizer.value, 0.0075, kTolerance);
  EXPECT_NEAR(ledger.negotiation.value, 0.005, kTolerance);
}

TEST(Ledger, CountsBucketsThatAreInFlightTogetherOnce) {
  const std::vector<Span> spans =
      joined({passes(0, 30, 40, 41),
              {span_of(0, SpanKind::communication, 28, 35, 0), span_of(0, SpanKind::communication, 29, 38, 1),
               span_of(0, SpanKind::communication, 31, 33, 2), span_of(0, SpanKind::coding, 32, 34, 0),
               span_of(0, SpanKind::coding, 33, 35, 1)}});
  const Ledger ledger = step_ledgers(spans).front().ledger;
  EXPECT_NEAR(ledger.coding.value, 0.003, kTolerance);
  EXPECT_NEAR(ledger.exposed.value, 0.005, kTolerance);
  EXPECT_NEAR(ledger.negotiation.value, 0.002, kTolerance);
}

TEST(Ledger, OfAStepWithoutCommunicationHasComputeAndOptimizer) {
  const std::vector<Span> spans{span_of(0, SpanKind::step, 0, 50), span_of(0, SpanKind::forward, 0, 10),
                                span_of(0, SpanKind::backward, 10, 45), span_of(0, SpanKind::optimizer, 45, 50)};
  expect_parts(step_ledgers(spans).front().ledger, {.compute = Seconds(45), .optimizer = Seconds(5)});
}

TEST(Ledger, AddsUpToTheStepWhateverTheSpansAre) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(0, 60);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Span> spans = joined({passes(0, 12 + any(random) / 3, 35 + any(random) / 5, 60, any(random) / 30),
                                      passes(1, 12 + any(random) / 2, 48, 61)});
    for (int bucket = 0; bucket < 6; ++bucket) {
      const double begin = any(random);
      const SpanKind kind = bucket % 2 == 0 ? SpanKind::communication : SpanKind::coding;
      spans.push_back(span_of(bucket % 3 == 0 ? 1 : 0, kind, begin, begin + any(random) / 4, bucket));
    }
    for (const auto& [rank, ledger] : step_ledgers(spans)) {
      const Span& step = *std::ranges::find_if(
          spans, [&, own = rank](const Span& span) { return span.rank == own && span.kind == SpanKind::step; });
      ASSERT_NEAR(ledger.step().value, step.duration().value, kTolerance);
      for (const LedgerPart& each : kLedgerParts) ASSERT_GE((ledger.*each.part).value, 0) << each.name;
    }
  }
}

TEST(Ledger, SplitsThePassesWhereTheirTimeAloneIsKnown) {
  const Ledger ledger = beside({.compute = Seconds(50), .exposed = Seconds(3)}, Seconds(40));
  EXPECT_EQ(ledger.compute, Seconds(40));
  EXPECT_EQ(ledger.slowdown, Seconds(10));
  EXPECT_EQ(ledger.step(), Seconds(53));
  EXPECT_EQ(beside({.compute = Seconds(50)}, Seconds(60)).slowdown, Seconds(0)) << "communication makes no GPU faster";
}

/// Steps of ranks whose backward passes end when `computed` says, and that all end when the last one has.
TracedStep step_of(int launch, int iteration, const std::vector<double>& computed) {
  const double slowest = *std::ranges::max_element(computed);
  TracedStep step{.launch = launch, .iteration = iteration, .spans = {}};
  for (std::size_t rank = 0; rank < computed.size(); ++rank)
    for (const Span& span : passes(static_cast<Rank>(rank), computed[rank], slowest + 5, slowest + 8))
      step.spans.push_back(span);
  return step;
}

TEST(Straggler, IsNamedWithThePartAndHowOften) {
  std::vector<TracedStep> steps;
  for (int i = 0; i < 10; ++i) steps.push_back(step_of(i / 2, i, {60, i == 4 ? 60.0 : 64.8, 60.2, 59}));
  const auto straggler = find_straggler(steps);
  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->in_words(), "rank 1 is late in 9 of 10 steps, by 4.8 ms, in backward");
}

// A delay after the forward pass is a part of the backward pass, and one before it of the time between steps.
TEST(Straggler, MayBeLateBetweenSteps) {
  std::vector<TracedStep> steps;
  for (int i = 0; i < 8; ++i) {
    TracedStep step = step_of(0, i, {60, 60});
    for (Span& span : step.spans)
      if (span.rank == 0 && span.kind == SpanKind::step) span.begin = Seconds(-0.006);
    steps.push_back(step);
  }
  const auto straggler = find_straggler(steps);
  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->in_words(), "rank 0 is late in 8 of 8 steps, by 6 ms, in between steps");
}

// Rank 1 reads its samples from 1 to 7 ms of a step, and computes 6 ms later than rank 0.
TEST(Straggler, MayBeLateBecauseItReadsItsSamplesSlowly) {
  std::vector<TracedStep> steps;
  for (int i = 0; i < 8; ++i) {
    TracedStep step = step_of(0, i, {60, 66});
    for (Span& span : step.spans)
      if (span.rank == 1 && span.kind == SpanKind::forward) span.begin = Seconds(0.007), span.end = Seconds(0.016);
    for (Span& span : step.spans)
      if (span.rank == 1 && span.kind == SpanKind::backward) span.begin = Seconds(0.016);
    step.spans.push_back(span_of(1, SpanKind::input, 1, 7));
    steps.push_back(step);
  }
  const auto straggler = find_straggler(steps);
  ASSERT_TRUE(straggler);
  EXPECT_EQ(straggler->in_words(), "rank 1 is late in 8 of 8 steps, by 6 ms, in input");
  const TraceSummary summary = summarize_trace(steps);
  EXPECT_NEAR(summary.ranks[1].ledger.input.value, 0.006, kTolerance);
  EXPECT_EQ(summary.ranks[0].ledger.input, Seconds(0));
  const auto stored = ledger_samples(steps.front());
  EXPECT_EQ(std::ranges::count(stored, "ledger/input", &Sample::metric), 1) << "of the rank that reads any";
}

// Ranks that differ by 5 % at random: each is the last now and then.
TEST(Straggler, IsSeldomFoundInNoise) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(60, 3);
  int found = 0;
  constexpr int kTrials = 500;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<TracedStep> steps;
    for (int i = 0; i < 15; ++i) steps.push_back(step_of(i / 3, i, {noise(random), noise(random)}));
    found += find_straggler(steps).has_value() ? 1 : 0;
  }
  EXPECT_LE(found, kTrials / 100) << "1 % by chance, and fewer because small differences do not count";
}

TEST(Straggler, NeedsMoreThanAFewStepsUnlessItIsGlaring) {
  const auto of = [](int count, double late) {
    std::vector<TracedStep> steps;
    for (int i = 0; i < count; ++i) steps.push_back(step_of(0, i, {60, 60 + late}));
    return find_straggler(steps).has_value();
  };
  EXPECT_FALSE(of(3, 4)) << "one of two ranks is the last three times in a row in a quarter of all cases";
  EXPECT_TRUE(of(10, 4));
  EXPECT_TRUE(of(3, 20));
  EXPECT_FALSE(of(2, 20));
  EXPECT_FALSE(of(10, 1)) << "nobody waits long for it";
}

TEST(Straggler, IsNotSoughtWhereThereIsOneRank) {
  EXPECT_FALSE(find_straggler({step_of(0, 0, {60}), step_of(0, 1, {90}), step_of(0, 2, {60})}));
  EXPECT_FALSE(find_straggler({}));
}

TEST(TraceSummary, HasTheSlowestBucketAndTheExposedShare) {
  std::vector<TracedStep> steps;
  for (int i = 0; i < 3; ++i) {
    TracedStep step = step_of(i, 20 + i, {57, 57});  // sums at 62, end at 65
    for (Rank rank = 0; rank < 2; ++rank) {
      step.spans.push_back(span_of(rank, SpanKind::communication, 20, 24, 0));
      step.spans.push_back(span_of(rank, SpanKind::communication, 53, 62, 1));
    }
    steps.push_back(step);
  }
  const TraceSummary summary = summarize_trace(steps);
  EXPECT_EQ(summary.launches, 3U);
  EXPECT_EQ(summary.steps, 3U);
  EXPECT_NEAR(summary.step.value, 0.065, kTolerance);
  EXPECT_NEAR(summary.exposed, 5.0 / 65, 1e-9);
  ASSERT_TRUE(summary.slowest_bucket);
  EXPECT_EQ(summary.slowest_bucket->bucket, 1);
  EXPECT_EQ(summary.slowest_bucket->buckets, 2);
  EXPECT_NEAR(summary.slowest_bucket->flight.value, 0.009, kTolerance);
  EXPECT_NEAR(summary.slowest_bucket->communication.value, 0.013, kTolerance);
  ASSERT_THAT(summary.ranks, SizeIs(2));
  EXPECT_NEAR(summary.ranks[1].ledger.exposed.value, 0.005, kTolerance);
  EXPECT_FALSE(summary.straggler);
}

CaseResult traced_result(const std::vector<TracedStep>& steps) {
  CaseResult result;
  for (const TracedStep& step : steps)
    for (const Sample& sample : ledger_samples(step)) result.samples.push_back(sample);
  return result;
}

TEST(LedgerSamples, GiveBackWhatTheyWereMadeOf) {
  const TracedStep step = step_of(2, 23, {60, 70});
  const auto ledgers = stored_ledgers(ledger_samples(step));
  ASSERT_THAT(ledgers, SizeIs(2));
  EXPECT_EQ(ledgers[0].launch, 2);
  EXPECT_EQ(ledgers[0].iteration, 23);
  EXPECT_EQ(ledgers[1].rank, 1);
  EXPECT_NEAR(ledgers[0].parts.at("straggler"), 0.010, kTolerance);
  EXPECT_NEAR(ledgers[1].parts.at("backward"), 0.060, kTolerance);
  EXPECT_FALSE(ledgers[0].parts.contains("slowdown")) << "it is not known of a step alone";
}

// Launches whose middle steps compute 59, 61 and 99 ms on the mean of both ranks; the last is disturbed.
TEST(LedgerSamples, AreTypicalInTheMiddleOfLaunches) {
  const CaseResult result = traced_result({step_of(0, 0, {60, 60}), step_of(0, 1, {90, 60}), step_of(0, 2, {60, 60}),
                                           step_of(1, 0, {61, 63}), step_of(2, 0, {100, 100})});
  const auto ledger = typical_ledger(result);
  EXPECT_NEAR(ledger.at("compute"), 0.061, kTolerance);
  EXPECT_NEAR(ledger.at("optimizer"), 0.003, kTolerance);
  EXPECT_FALSE(ledger.contains("backward"));
}

TEST(LedgerSamples, ShowSlowdownBesideABaseline) {
  const CaseResult result = traced_result({step_of(0, 0, {60, 60})});
  const CaseResult baseline = traced_result({step_of(0, 0, {50})});
  const auto ledger = beside_baseline(typical_ledger(result), baseline);
  EXPECT_NEAR(ledger.at("compute"), 0.049, kTolerance);
  EXPECT_NEAR(ledger.at("slowdown"), 0.010, kTolerance);
  EXPECT_FALSE(typical_ledger(result).contains("slowdown"));
  const CaseResult untraced;
  EXPECT_FALSE(beside_baseline(typical_ledger(result), untraced).contains("slowdown"));
  EXPECT_THAT(beside_baseline({}, baseline), IsEmpty());
}

TEST(LedgerSamples, OfOlderVersionsAreNoLedgers) {
  CaseResult result;
  result.samples = {{.iteration = 3, .metric = "ledger/exposed", .value = 0.5, .unit = "s"}};
  EXPECT_THAT(typical_ledger(result), IsEmpty());
}

}  // namespace
}  // namespace hbench::trace_test
