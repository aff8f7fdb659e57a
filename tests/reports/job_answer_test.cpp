// The first line of a recorded job: what limits its step and what to do.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "collectives/base/text.hpp"
#include "reports/job/job.hpp"
#include "tests/reports/document_parts.hpp"

namespace hbench::job_answer_test {
namespace {

/// A step of 200 ms of 8 ranks: forward 50, backward 100; two buckets that travel for 30 ms each.
TrainingJob overlapped(double exposed) {
  TrainingJob job;
  job.recordings.push_back({.file = "a.json", .format = "kineto", .rank = 0, .world = 8, .of_all = true});
  job.ranks = 8;
  job.steps = 5;
  job.step = Seconds(0.2);
  job.forward = Seconds(0.05);
  job.backward = Seconds(0.1);
  job.exposed = Seconds(exposed);
  job.communication = Seconds(0.06);
  for (const double launched : {0.1, 0.15})
    job.buckets.push_back(
        {.elements = 4 << 20, .bytes = 16 << 20, .launched = Seconds(launched), .duration = Seconds(0.03)});
  return job;
}

/// The same with a GPU, which is busy for a time.
TrainingJob on_gpu(double busy, double exposed) {
  TrainingJob job = overlapped(exposed);
  job.compute = Seconds(busy);
  job.idle = job.step - *job.compute - job.exposed;
  return job;
}

template <class Change>
TrainingJob with(TrainingJob job, Change change) {
  change(job);
  return job;
}

struct Answer {
  TrainingJob job;
  const char* text;
};

std::vector<Answer> answers() {
  return {
      {on_gpu(0.034, 0),
       "The host limits the step: 166.0 ms of 200.0 ms (83 %), its GPU idle; try a larger batch or fewer small kernels "
       "(torch.compile, CUDA graphs)."},
      {with(on_gpu(0.034, 0), [](TrainingJob& job) { job.input = Seconds(0.12); }),
       "Input limits the step: 120.0 ms of 200.0 ms (60 %); give the data loader more workers (num_workers); then the "
       "host, 46.0 ms."},
      {with(on_gpu(0.19, 0), [](TrainingJob& job) { job.input = Seconds(0.12); }),
       "Computation limits the step: the GPU is busy 95 % of 200.0 ms, 0.0 ms of 60.0 ms of communication are exposed; "
       "faster kernels or lower precision help."},
      {with(on_gpu(0, 0), [](TrainingJob& job) { job.idle.reset(); }),
       "What limits the step of 200.0 ms is not known: the file has hardly any kernels of it."},
      {with(overlapped(0),
            [](TrainingJob& job) {
              job.recordings[0].backend = "nccl";
              job.recordings[0].gpu = "NVIDIA A100";
            }),
       "What limits the step of 200.0 ms is not known: the file has hardly any kernels of it."},
      {on_gpu(0.145, 0.03),
       "Exposed communication limits the step: 30.0 ms of 200.0 ms (15 %), the last in bucket 2 (16 MiB in 30.0 ms); "
       "try smaller buckets; then the host, 25.0 ms."},
      {with(overlapped(0.03), [](TrainingJob& job) { job.recordings[0].of_all = false; }),
       "Exposed communication limits the step: 30.0 ms of 200.0 ms (15 %), the last in bucket 2 (16 MiB in 30.0 ms); "
       "record all ranks, one may be late."},
      {with(overlapped(0.03), [](TrainingJob& job) { job.communication = Seconds(0.12); }),
       "Exposed communication limits the step: 30.0 ms of 200.0 ms (15 %), the last in bucket 2 (16 MiB in 30.0 ms); "
       "send fewer bytes or use a faster network."},
      {with(overlapped(0.06), [](TrainingJob& job) { job.overlaps = false; }),
       "Exposed communication limits the step: 60.0 ms of 200.0 ms (30 %), the last in bucket 2 (16 MiB in 30.0 ms); "
       "send gradients during the backward pass."},
      {with(overlapped(0.06),
            [](TrainingJob& job) { job.recordings[0].advice.launches = "train with --overlap-grad-reduce"; }),
       "Exposed communication limits the step: 60.0 ms of 200.0 ms (30 %), the last in bucket 2 (16 MiB in 30.0 ms); "
       "train with --overlap-grad-reduce."},
      {with(overlapped(0.001),
            [](TrainingJob& job) {
              job.straggler = {.rank = 3, .own = Seconds(0.06), .others = Seconds(0.12), .costs = Seconds(0.04)};
            }),
       "Rank 3 limits the step: 40.0 ms of 200.0 ms (20 %), for which the others wait; compare its input, host and GPU "
       "clock with theirs."},
      {with(on_gpu(0.1, 0),
            [](TrainingJob& job) {
              job.others.push_back({.operation = "all-to-all", .alone = Seconds(0.09)});
              job.idle = Seconds(0.01);
            }),
       "All-to-all limits the step: 90.0 ms of 200.0 ms (45 %), with nothing beside it; overlap it or keep it inside "
       "nodes."},
      {with(on_gpu(0.1, 0),
            [](TrainingJob& job) {
              job.others.push_back({.operation = "send-receive", .alone = Seconds(0.09)});
              job.idle = Seconds(0.01);
            }),
       "Send-receive limits the step: 90.0 ms of 200.0 ms (45 %), waiting for other stages; use more micro-batches or "
       "interleaved stages."},
      {with(on_gpu(0.1, 0.06),
            [](TrainingJob& job) {
              job.idle = Seconds(0.01);
              for (JobBucket& bucket : job.buckets) bucket.launched = Seconds(0.15);
            }),
       "Exposed communication limits the step: 60.0 ms of 200.0 ms (30 %), the last in bucket 2 (16 MiB in 30.0 ms); "
       "send gradients during the backward pass."},
      {overlapped(0.001),
       "Computation limits the step, input and host included: forward 50.0 ms, backward 100.0 ms of 200.0 ms, 1.0 ms "
       "of "
       "60.0 ms of communication are exposed; torch.profiler tells them apart."},
      {with(overlapped(0),
            [](TrainingJob& job) {
              job.forward = job.backward = {};
              job.recordings[0].advice.passes = "record some steps with torch.profiler";
            }),
       "Exchanges take 60.0 ms of 200.0 ms, hidden or not: a faster network saves at most 30 %; record some steps with "
       "torch.profiler."},
      {with(overlapped(0),
            [](TrainingJob& job) {
              job.forward = job.backward = {};
              job.communication = Seconds(0.54);
              job.recordings[0].advice.passes = "record some steps with torch.profiler";
            }),
       "Exchanges add up to 540.0 ms in a step of 200.0 ms: they run beside each other; record some steps with "
       "torch.profiler."},
      {with(overlapped(0),
            [](TrainingJob& job) {
              job.forward = job.backward = {};
              job.step = {};
              job.recordings[0].advice.steps = "record with NCCL_INSPECTOR_DUMP_VERBOSE=1";
            }),
       "Exchanges take 60.0 ms of a step, whose own time is not in the file; record with "
       "NCCL_INSPECTOR_DUMP_VERBOSE=1."},
      {with(overlapped(0),
            [](TrainingJob& job) {
              job.forward = job.backward = {};
              job.communication = {};
              job.buckets.clear();
              job.recordings[0].advice.passes = "train with --timing-log-level 2";
            }),
       "A step takes 200.0 ms, and where its time goes is not in the file; train with --timing-log-level 2."},
      {with(overlapped(0.03), [](TrainingJob& job) { job.hang = "1 collective of 1 rank had not completed: .."; }),
       "1 collective of 1 rank had not completed: .."},
  };
}

TEST(JobAnswer, SaysWhatLimitsTheStepAndWhatToDo) {
  for (const Answer& each : answers()) {
    EXPECT_EQ(job_answer(each.job, {}), each.text);
    EXPECT_LE(words_of(each.text).size(), 30U) << each.text;
    const Document document = job_document(each.job, {});
    EXPECT_EQ(std::get<Verdict>(document.blocks.front()).text, each.text);
    EXPECT_EQ(nlohmann::json::parse(job_json(each.job, {}))["answer"], each.text);
  }
}

TEST(JobAnswer, HasThePredictionThatIsThereAnyway) {
  const PredictedJob predicted{.profile = "aws-p4d", .exposed = Seconds(0.002)};
  EXPECT_EQ(job_answer(overlapped(0.03), predicted),
            "Exposed communication limits the step: 30.0 ms of 200.0 ms (15 %), where aws-p4d predicts 2.0 ms; try "
            "smaller buckets.");
}

TEST(JobAnswer, OfAJobThatHungBeforeAStepStandsAlone) {
  TrainingJob job;
  job.recordings.push_back({.file = "nccl_trace_rank_0", .format = "flight-recorder"});
  job.hang = "1 collective of 1 rank had not completed: all_reduce 1.";
  const Document document = job_document(job, {});
  EXPECT_EQ(document.blocks.size(), 1U);
  EXPECT_TRUE(nlohmann::json::parse(job_json(job, {}))["communication_seconds"].is_null());
}

// Forward 50, backward 100 of 200 ms; buckets of 30 ms leave at 100 and 150 and the last arrives at 180.
TEST(JobPicture, IsToScaleWithTheBucketsBehindEachOther) {
  const Lanes lanes = all_of<Lanes>(job_document(overlapped(0.03), {})).at(0);
  EXPECT_EQ(lanes.title, "The step of 200.0 ms, to scale");
  EXPECT_EQ(to_text(lanes),
            "compute  [----forward----][-----------backward------------][-wait--]update.\n"
            "network                                   [---1----]      [---2----]\n");
  TrainingJob many = overlapped(0.03);
  many.buckets.assign(500, many.buckets[0]);
  for (JobBucket& bucket : many.buckets) bucket.duration = Seconds(1e-4);
  EXPECT_LE(to_text(all_of<Lanes>(job_document(many, {})).at(0)).find('\n'), 80);
  many.backward.reset();
  EXPECT_TRUE(all_of<Lanes>(job_document(many, {})).empty()) << "its passes are not known";
}

}  // namespace
}  // namespace hbench::job_answer_test
