#include "workloads/engine/step_trace.hpp"

#include <algorithm>

#include "tests/support/matchers.hpp"
#include "tests/workloads/engine_ranks.hpp"
#include "workloads/engine/negotiator.hpp"

namespace hbench::step_trace_test {
namespace {

std::vector<Span> of_kind(const std::vector<Span>& spans, SpanKind kind) {
  std::vector<Span> found;
  std::ranges::copy_if(spans, std::back_inserter(found), [&](const Span& span) { return span.kind == kind; });
  return found;
}

TEST(StepTrace, RecordsNothingWhereNoStepIsTraced) {
  StepTrace trace(0, Lane::compute, host_device());
  EXPECT_EQ(trace.mark(), nullptr);
  trace.lap(SpanKind::forward);
  trace.add(SpanKind::coding, nullptr, nullptr);
  EXPECT_THAT(trace.end(), IsEmpty());
}

TEST(StepTrace, HasLapsThatFollowEachOtherWithoutAGap) {
  StepTrace trace(3, Lane::compute, host_device());
  const Seconds before(std::chrono::duration<double>(StepTrace::Clock::now().time_since_epoch()).count());
  trace.begin();
  trace.lap(SpanKind::forward);
  trace.lap(SpanKind::backward);
  const std::vector<Span> spans = trace.end();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].rank, 3);
  EXPECT_EQ(spans[0].kind, SpanKind::forward);
  EXPECT_EQ(spans[1].kind, SpanKind::backward);
  EXPECT_EQ(spans[0].end, spans[1].begin);
  EXPECT_GE(spans[0].begin, before - Seconds(1e-6)) << "times of the clock that all ranks of a host share";
  EXPECT_FALSE(trace.active());
  EXPECT_THAT(trace.end(), IsEmpty()) << "a step's spans are given once";
}

/// The spans of each rank's communication thread of one step in which every tensor is a bucket or all are one.
std::vector<std::vector<Span>> traced_step(const TrainingRequest& request, bool traced) {
  std::vector<std::vector<Span>> spans(static_cast<std::size_t>(request.world.workers));
  const auto failures = on_all_ranks(request.world.workers, [&](Endpoint& endpoint) {
    const GradientLayout layout = test_layout();
    const std::span<std::byte> memory = endpoint.allocate(static_cast<std::size_t>(layout.total()) * sizeof(float));
    const StepPlan plan = request.strategy.method.plan(request.strategy.overlap);
    Communicator communicator(
        request, endpoint, layout, plan,
        {.gradients = {reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float)}, .parameters = {}});
    Handover handover(communicator.doorbell());
    std::jthread thread([&] { communicator.run(handover); });
    handover.begin_step({.at = Handover::Clock::now(), .traced = traced});
    for (int tensor = 0; tensor < layout.tensors(); ++tensor) handover.announce(kBackward, tensor);
    handover.wait_for_step_end();
    spans[static_cast<std::size_t>(endpoint.transport().rank())] = communicator.end_trace();
    handover.close();
  });
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  return spans;
}

TEST(StepTrace, ShowsEachBucketFromItsLastGradientToItsSum) {
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  for (const std::vector<Span>& spans : traced_step(request, true)) {
    const std::vector<Span> agreed = of_kind(spans, SpanKind::negotiation);
    const std::vector<Span> flown = of_kind(spans, SpanKind::communication);
    ASSERT_THAT(agreed, SizeIs(5)) << "each tensor is a bucket";
    ASSERT_THAT(flown, SizeIs(5));
    for (const Span& span : spans) {
      EXPECT_EQ(span.lane, Lane::communication);
      EXPECT_EQ(span.rank, spans.front().rank);
      EXPECT_LE(span.begin, span.end);
    }
    for (const Span& flight : flown) {
      const auto own = std::ranges::find(agreed, flight.bucket, &Span::bucket);
      ASSERT_NE(own, agreed.end());
      // Two clocks: the host's, and the device's with its origin as the host saw it.
      EXPECT_LE(own->end, flight.begin + Seconds(1e-3)) << "a bucket leaves when the ranks have agreed on it";
    }
    EXPECT_THAT(of_kind(spans, SpanKind::coding), IsEmpty()) << "a lone tensor is reduced in place";
  }
}

TEST(StepTrace, ShowsHowLongCodecsWork) {
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "threshold:1GiB");
  request.strategy.compressor = parse_compressor("fp16");
  for (const std::vector<Span>& spans : traced_step(request, true)) {
    const std::vector<Span> flown = of_kind(spans, SpanKind::communication);
    ASSERT_THAT(flown, SizeIs(1));
    const std::vector<Span> coded = of_kind(spans, SpanKind::coding);
    ASSERT_FALSE(coded.empty());
    for (const Span& span : coded) EXPECT_EQ(span.bucket, 0);
  }
}

TEST(StepTrace, OfAnUntracedStepIsEmpty) {
  for (const std::vector<Span>& spans : traced_step(make_request({.workers = 2}, "ring", "", "none"), false))
    EXPECT_THAT(spans, IsEmpty());
}

TEST(Phase, OfTracedStepsFollowsTheTimedOnes) {
  TrainingRequest request;
  request.warmup_steps = 1;
  request.steps = 2;
  request.traced_steps = 2;
  JobProgress progress;
  for (const Phase expected : {Phase::warmup, Phase::timed, Phase::timed, Phase::traced, Phase::traced, Phase::stop}) {
    const Phase phase = next_phase(request, progress);
    EXPECT_EQ(phase, expected) << "step " << progress.steps;
    progress.count(phase);
  }
  request.traced_steps = 0;
  EXPECT_EQ(next_phase(request, {.steps = 3, .timed = 2}), Phase::stop) << "nobody asked for a trace";
}

/// A policy that learns, as DDP's, has buckets of its own for what the first iteration after the start sends.
TEST(Phase, WarmsUpOnceThePlanDoesAllItDoes) {
  TrainingRequest request;
  request.warmup_steps = 1;
  request.steps = 1;
  JobProgress progress{.start = 2};
  for (const Phase expected : {Phase::warmup, Phase::warmup, Phase::warmup, Phase::timed, Phase::stop}) {
    const Phase phase = next_phase(request, progress);
    EXPECT_EQ(phase, expected) << "step " << progress.steps;
    progress.count(phase);
  }
  request.budget = Seconds(1);
  EXPECT_EQ(next_phase(request, {.steps = 1, .elapsed = Seconds(2), .start = 2}), Phase::warmup);
  EXPECT_EQ(next_phase(request, {.steps = 2, .elapsed = Seconds(2), .start = 2}), Phase::timed);
}

TEST(Phase, TracesOneStepWhereTheBudgetIsSpentThreeTimes) {
  TrainingRequest request;
  request.traced_steps = 3;
  request.budget = Seconds(1);
  EXPECT_EQ(next_phase(request, {.steps = 9, .timed = 8, .elapsed = Seconds(3.5)}), Phase::traced);
  EXPECT_EQ(next_phase(request, {.steps = 10, .timed = 8, .traced = 1, .elapsed = Seconds(3.6)}), Phase::stop);
  EXPECT_EQ(next_phase(request, {.steps = 10, .timed = 8, .traced = 1, .elapsed = Seconds(2.5)}), Phase::traced);
}

}  // namespace
}  // namespace hbench::step_trace_test
