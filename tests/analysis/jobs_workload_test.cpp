// Sizes of tensors that a recording does not have: where they may come from, and where they may not.

#include <algorithm>

#include "tests/analysis/jobs_recording.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_workload_test {
namespace {

/// Two buckets, of two tensors and of one, whose sizes are the only ones that are known.
Recording without_shapes() {
  RecordedStep step{
      .name = "1", .time = Seconds(0.1), .backward_began = Seconds(0.02), .backward_ended = Seconds(0.06)};
  for (const double ready : {0.03, 0.04, 0.06})
    step.gradients.push_back({.tensor = {}, .elements = 0, .ready = Seconds(ready)});
  for (const int before : {2, 3})
    step.collectives.push_back({.operation = "all-reduce",
                                .elements = 30,
                                .type = "float32",
                                .in_backward = true,
                                .gradients_before = before,
                                .launched = Seconds(before == 2 ? 0.04 : 0.06)});
  Recording recording{.file = "trace.json", .format = "kineto", .rank = 0, .world = 2};
  recording.steps = {step, step};
  return recording;
}

Trace known(const std::string& name, const std::vector<std::int64_t>& sizes) {
  Trace trace{.name = name, .title = name, .source = "test", .timeline = {}, .buckets = {}};
  for (const std::int64_t elements : sizes)
    trace.timeline.gradients.push_back(
        {"tensor" + std::to_string(trace.timeline.gradients.size()), elements, Seconds(0)});
  return trace;
}

TEST(JobTensors, AreThoseOfAKnownTimelineWhoseSizesAddUpToAllBuckets) {
  JobRequest request;
  request.known = {known("other", {11, 20, 29}), known("mine", {10, 20, 30}), known("longer", {10, 20, 30, 1})};
  const TrainingJob job = make_job({without_shapes()}, request);
  EXPECT_EQ(job.tensors_of, "mine");
  ASSERT_TRUE(job.workload);
  EXPECT_EQ(job.workload->timeline.gradients[1].tensor, "tensor1");
  EXPECT_EQ(job.workload->timeline.gradients[1].elements, 20);
  EXPECT_THAT(job.workload->buckets, ElementsAre(2, 1));
}

TEST(JobTensors, AreNotGuessedByTheirNumberAlone) {
  Recording recording = without_shapes();
  for (RecordedStep& step : recording.steps) step.collectives.clear();
  JobRequest request;
  request.known = {known("same_number", {10, 20, 30})};
  EXPECT_FALSE(make_job({recording}, request).workload);
  request.tensors = "same_number";
  const TrainingJob job = make_job({recording}, request);
  ASSERT_TRUE(job.workload);
  EXPECT_EQ(job.workload->timeline.gradients[2].elements, 30);
}

TEST(JobTensors, OfAnotherModelAreRefused) {
  JobRequest request;
  request.known = {known("fewer", {10, 50}), known("bigger", {10, 20, 31})};
  request.tensors = "fewer";
  expect_error([&] { make_job({without_shapes()}, request); }, ExitCode::usage,
               "fewer has 2 tensors, the recording 3 gradients");
  request.tensors = "bigger";
  expect_error([&] { make_job({without_shapes()}, request); }, ExitCode::usage,
               "bigger has 3 tensors, the recording 3 gradients",
               "its buckets would have other sizes: it is another model");
}

TEST(JobTensors, AreAskedForInVainWhereTheyWereRecorded) {
  Recording recording = without_shapes();
  for (RecordedStep& step : recording.steps)
    for (std::size_t i = 0; i < 3; ++i) step.gradients[i].elements = 10 * (static_cast<std::int64_t>(i) + 1);
  JobRequest request;
  request.known = {known("mine", {10, 20, 30})};
  EXPECT_TRUE(make_job({recording}, request).workload);
  request.tensors = "mine";
  expect_error([&] { make_job({recording}, request); }, ExitCode::usage, "the recording has the sizes of its tensors",
               "leave --tensors mine out: what was recorded counts");
}

TEST(Job, IsOfRecordingsOfOneJobAlone) {
  Recording first = without_shapes(), second = without_shapes();
  second.file = "other.json";
  expect_error([&] { make_job({first, second}, {}); }, ExitCode::usage, "trace.json and other.json are both of rank 0");
  second.rank = 1;
  second.world = 4;
  expect_error([&] { make_job({first, second}, {}); }, ExitCode::usage, "trace.json is of 2 ranks and other.json of 4");
}

/// A rank that is in each of its exchanges for some milliseconds.
Recording timed_rank(int rank, double milliseconds) {
  Recording recording = without_shapes();
  recording.rank = rank;
  for (RecordedStep& step : recording.steps)
    for (RecordedCollective& each : step.collectives) {
      each.began = each.launched;
      each.duration = Seconds(milliseconds * 1e-3);
    }
  return recording;
}

TEST(Job, WaitsForNoRankOfWhichNoTimesAreKnown) {
  Recording untimed = without_shapes();
  untimed.rank = 2;
  std::vector<Recording> ranks{untimed, timed_rank(0, 9), timed_rank(1, 10)};
  for (Recording& each : ranks) each.world = 3;
  const TrainingJob job = make_job(std::move(ranks), {});
  EXPECT_FALSE(job.straggler);
  EXPECT_EQ(job.shown, 1U) << "the one that waits least of those that are known";
}

TEST(Job, CountsExchangesThatTravelAtOnceOneAfterTheOther) {
  Recording recording = timed_rank(0, 30);  // from 40 to 70 and from 60 to 90 ms
  const TrainingJob job = make_job({recording}, {});
  EXPECT_NEAR(job.buckets[0].duration->value, 0.03, 1e-9);
  EXPECT_NEAR(job.buckets[1].duration->value, 0.02, 1e-9);
  EXPECT_NEAR(job.communication.value, 0.05, 1e-9) << "the time in which any travels";
}

TEST(Job, ShowsEachStepAsTheRankSawItThatCameLast) {
  std::vector<Recording> ranks{timed_rank(0, 10), timed_rank(1, 10)};
  for (Recording& rank : ranks) {
    rank.steps[1].name = "2";
    RecordedStep& early = rank.steps[static_cast<std::size_t>(1 - *rank.rank)];  // ranks take turns
    early.backward_ended = Seconds(0.05);
    for (RecordedCollective& each : early.collectives) each.duration = Seconds(0.019);
  }
  const TrainingJob job = make_job(ranks, {});
  EXPECT_NEAR(job.backward->value, 0.04, 1e-9);
  EXPECT_NEAR(job.buckets[0].duration->value, 0.01, 1e-9) << "without waiting";
  ranks[1].steps[1].name = "3";  // of another step nothing is known
  EXPECT_NEAR(make_job(ranks, {}).backward->value, 0.035, 1e-9);
}

TEST(Job, DoubtsRanksWhoseStepsTakeOtherTimes) {
  std::vector<Recording> ranks{timed_rank(0, 10), timed_rank(1, 10)};
  const auto doubted = [&] {
    const TrainingJob job = make_job(ranks, {});
    return std::ranges::any_of(job.unknown, [](const auto& text) { return text.find("one job") != text.npos; });
  };
  EXPECT_FALSE(doubted());
  for (RecordedStep& step : ranks[1].steps) step.time = Seconds(0.13);
  EXPECT_TRUE(doubted());
}

TEST(Job, TakesMeansOfStepsThatAreNeitherFastNorSlow) {
  Recording recording = without_shapes();
  recording.steps.resize(5, recording.steps[0]);
  for (int i = 0; const double time : {0.1, 9.0, 0.12, 0.17, 0.13})
    recording.steps[static_cast<std::size_t>(i++)].time = Seconds(time);
  const TrainingJob job = make_job({recording}, {});
  EXPECT_NEAR(job.step.value, 0.14, 1e-9);
  EXPECT_EQ(job.slowest_step, Seconds(9));
  EXPECT_EQ(job.steps, 5);
}

TEST(Job, LeavesOutStepsOfAnotherShape) {
  Recording recording = without_shapes();
  RecordedStep first = recording.steps[0];
  first.time = Seconds(7);
  first.collectives.pop_back();
  recording.steps.insert(recording.steps.begin(), first);
  const TrainingJob job = make_job({recording}, {});
  EXPECT_EQ(job.steps, 2);
  EXPECT_EQ(job.other_steps, 1);
  EXPECT_EQ(job.slowest_step, Seconds(0.1));
}

}  // namespace
}  // namespace hbench::jobs_workload_test
