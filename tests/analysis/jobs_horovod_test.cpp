#include <fmt/format.h>

#include "analysis/job/job.hpp"
#include "tests/analysis/jobs_files.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_horovod_test {
namespace {

/// A timeline that is written event by event; times in microseconds.
class TimelineText {
 public:
  explicit TimelineText(int tensors) {
    for (int pid = 1; pid <= tensors; ++pid)
      add(R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": "allreduce.layer{}.weight"}}}})", pid,
          pid);
  }

  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...) + ",\n";
  }
  void begin(int pid, const std::string& phase, double at) {
    add(R"({{"ph": "B", "name": "{}", "ts": {}, "pid": {}}})", phase, at, pid);
  }
  void end(int pid, double at, const std::string& more = {}) {
    add(R"({{"ph": "E", "ts": {}, "pid": {}{}}})", at, pid, more);
  }

  /// Tensors that travel together, each ready at its time.
  void add_bucket(const std::vector<std::pair<int, double>>& tensors, double launched, double ended,
                  bool shapes = true) {
    for (const auto& [pid, ready] : tensors) {
      begin(pid, "NEGOTIATE_ALLREDUCE", ready);
      for (const int rank : {0, 1, 2})
        add(R"({{"ph": "X", "name": "{}", "ts": {}, "pid": {}, "dur": 0}})", rank, ready, pid);
      end(pid, launched - 20);
    }
    double skew = 0;
    for (const auto& [pid, ready] : tensors) {
      begin(pid, "ALLREDUCE", launched);
      begin(pid, "QUEUE", launched + 10);
      end(pid, launched + 100);
      begin(pid, "MEMCPY_IN_FUSION_BUFFER", launched + 100);
      end(pid, launched + 200);
      begin(pid, "NCCL_ALLREDUCE", launched + 200 + ++skew);
      end(pid, ended);
      end(pid, ended + 2, shapes ? fmt::format(R"(, "args": {{"dtype": "float16", "shape": "[{}, 3]"}})", pid) : "");
    }
  }

  std::string text() const { return "[\n" + text_; }

 private:
  std::string text_;
};

/// A step of 100 ms that begins at `begin`: three tensors in two buckets.
void add_step(TimelineText& timeline, double begin, bool shapes = true) {
  timeline.add(R"({{"ph": "i", "name": "CYCLE_START", "ts": {}, "s": "g"}})", begin);
  timeline.add_bucket({{1, begin + 40'000}, {2, begin + 50'000}}, begin + 55'000, begin + 70'000, shapes);
  timeline.add_bucket({{3, begin + 80'000}}, begin + 82'000, begin + 99'998, shapes);
}

std::string three_steps(bool shapes = true) {
  TimelineText timeline(3);
  for (int step = 0; step < 3; ++step) add_step(timeline, 100'000.0 * step, shapes);
  return timeline.text();
}

TEST(HorovodTimelines, HaveStepsFromTheEndOfOneToTheEndOfTheNext) {
  const Recording recording = recording_of(three_steps());
  EXPECT_EQ(recording.format, "horovod");
  EXPECT_EQ(recording.world, 3);
  EXPECT_EQ(recording.backend, "nccl");
  ASSERT_THAT(recording.steps, SizeIs(2));
  const RecordedStep& step = recording.steps.back();
  EXPECT_EQ(step.name, "step 3");
  EXPECT_THAT(step.time.value, DoubleNear(0.1, 1e-9));
  EXPECT_THAT(step.backward_began->value, DoubleNear(0.04, 1e-9));
  EXPECT_THAT(step.backward_ended->value, DoubleNear(0.08, 1e-9));
  EXPECT_THAT(step.exposed.value, DoubleNear(0.02, 1e-9));
  ASSERT_THAT(step.gradients, SizeIs(3));
  EXPECT_EQ(step.gradients[1].tensor, "layer2.weight");
  EXPECT_EQ(step.gradients[1].elements, 6);
  EXPECT_THAT(step.gradients[1].ready.value, DoubleNear(0.05, 1e-9));
  EXPECT_THAT(recording.unknown, ElementsAre(HasSubstr("forward pass")));
}

TEST(HorovodTimelines, ShowWhichTensorsTravelTogether) {
  const Recording recording = recording_of(three_steps());
  const std::vector<RecordedCollective>& buckets = recording.steps.front().collectives;
  ASSERT_THAT(buckets, SizeIs(2));
  EXPECT_EQ(buckets[0].elements, 9);
  EXPECT_EQ(buckets[0].type, "float16");
  EXPECT_EQ(buckets[0].ranks, 3);
  EXPECT_EQ(buckets[0].gradients_before, 2);
  EXPECT_EQ(buckets[1].gradients_before, 3);
  EXPECT_THAT(buckets[0].launched.value, DoubleNear(0.055, 1e-9));
  // Waiting in the queue is no part of it.
  EXPECT_THAT(buckets[0].began->value, DoubleNear(0.0551, 1e-9));
  EXPECT_THAT(buckets[0].duration->value, DoubleNear(0.014902, 1e-9));
}

TEST(HorovodTimelines, DoNotCountTensorsOfABucketThatOvertookOthers) {
  TimelineText timeline(3);
  for (int step = 0; step < 2; ++step) {
    const double begin = 100'000.0 * step;
    timeline.add_bucket({{1, begin + 40'000}, {3, begin + 50'000}}, begin + 55'000, begin + 70'000);
    timeline.add_bucket({{2, begin + 45'000}}, begin + 82'000, begin + 90'000);
  }
  const Recording recording = recording_of(timeline.text());
  for (const RecordedCollective& bucket : recording.steps.front().collectives)
    EXPECT_EQ(bucket.gradients_before, std::nullopt);
}

TEST(HorovodTimelines, NameNoSizesThatTheyDoNotHave) {
  const Recording recording = recording_of(three_steps(false));
  EXPECT_EQ(recording.steps.front().gradients.front().elements, 0);
  EXPECT_EQ(recording.steps.front().collectives.front().elements, 0);
  EXPECT_THAT(recording.unknown, ElementsAre(HasSubstr("forward pass"), HasSubstr("--tensors")));
}

TEST(HorovodTimelines, OfOneStepAreRefused) {
  TimelineText timeline(3);
  add_step(timeline, 0);
  expect_error([&] { recording_of(timeline.text()); }, ExitCode::usage, HasSubstr("no tensor is reduced twice"),
               "record some steps with HOROVOD_TIMELINE=timeline.json");
}

TEST(HorovodTimelines, ShowTheStepOfMedianTimeWhereNoneAreAlike) {
  Recording recording{.file = "a.json", .world = 2};
  for (const double time : {0.3, 0.1, 0.2}) {
    RecordedStep step{.time = Seconds(time)};
    const auto first = static_cast<std::int64_t>(100 * time);
    for (const std::int64_t elements : {first, 100 - first})
      step.collectives.push_back({.operation = "all-reduce", .elements = elements, .in_backward = true});
    recording.steps.push_back(step);
  }
  const TrainingJob job = make_job({recording}, {});
  EXPECT_EQ(job.step, Seconds(0.2));
  EXPECT_EQ(job.other_steps, 2);
}

TEST(HorovodTimelines, MayStandInAnObjectAsViewersSaveThem) {
  std::string list = three_steps();
  list.resize(list.rfind(','));
  const Recording recording = recording_of(R"({"traceEvents": )" + list + "]}");
  EXPECT_EQ(recording.format, "horovod");
  EXPECT_THAT(recording.steps, SizeIs(2));
}

TEST(HorovodTimelines, WithoutAllReducesNameWhatTheyHave) {
  std::string text = three_steps();
  for (std::size_t at = text.find("ALLREDUCE"); at != text.npos; at = text.find("ALLREDUCE"))
    text.replace(at, 9, "ALLGATHER");
  expect_error([&] { recording_of(text); }, ExitCode::usage, HasSubstr("otherwise: all-gather"),
               "record some steps with HOROVOD_TIMELINE=timeline.json");
}

TEST(HorovodTimelines, SurviveDamage) {
  survive_damage(three_steps(), "horovod", 400);
  TimelineText timeline(3);
  for (int step = 0; step < 2; ++step) add_step(timeline, 100'000.0 * step);
  timeline.add(R"({{"ph": "B", "name": "ALLREDUCE", "ts": NaN, "pid": 1}})");
  EXPECT_THAT(recording_of(timeline.text()).steps, SizeIs(1));
}

TEST(HorovodTimelines, OfARealRunAddUpToItsModel) {
  HBENCH_REFERENCE_TRACE(file, "recorded/horovod_timeline.json");
  const Recording recording = read_recordings(file, {}).at(0);
  EXPECT_EQ(recording.world, 2);
  EXPECT_EQ(recording.backend, "gloo");
  ASSERT_THAT(recording.steps, SizeIs(2));
  for (const RecordedStep& step : recording.steps) {
    EXPECT_THAT(step.gradients, SizeIs(62));
    std::int64_t sum = 0;
    for (const RecordedCollective& each : step.collectives) sum += each.elements;
    EXPECT_EQ(sum, 11'689'512);  // ResNet-18
    EXPECT_EQ(step.collectives.back().gradients_before, 62);
  }
  EXPECT_THAT(recording.steps[0].collectives, SizeIs(14));
  EXPECT_THAT(recording.steps[1].collectives, SizeIs(8));
}

}  // namespace
}  // namespace hbench::jobs_horovod_test
