#include <fmt/format.h>

#include "tests/analysis/jobs_examples.hpp"
#include "tests/analysis/jobs_files.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"

namespace hbench::jobs_flight_recorder_test {
namespace {

using Json = nlohmann::json;

RecordedFile dump_of(Json entries, const std::string& name = "nccl_trace_rank_2") {
  return {name, flight_dump(std::move(entries)).dump()};
}

std::vector<std::int64_t> bucket_elements(const TrainingJob& job) {
  std::vector<std::int64_t> elements;
  for (const JobBucket& bucket : job.buckets) elements.push_back(bucket.elements);
  return elements;
}

TEST(FlightRecorder, ShowsBucketsStepsAndRatesOfADdpJob) {
  const TrainingJob job = dump_of(ddp_entries(7, 1)).job();
  EXPECT_THAT(bucket_elements(job), ElementsAre(2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040));
  EXPECT_EQ(job.steps, 6);  // the last one has no end
  EXPECT_EQ(job.other_steps, 0);
  EXPECT_THAT(job.step.value, DoubleNear(0.220, 1e-9));
  EXPECT_THAT(job.buckets[3].launched.value, DoubleNear(0.1496 - 0.1079, 1e-9));
  EXPECT_EQ(job.buckets[1].bytes, 7'875'584 * 4);
  EXPECT_THAT(job.buckets[1].duration->value, DoubleNear((1 + 7'875'584 / 4e6) * 1e-3, 1e-9));
  EXPECT_EQ(job.type, "float32");
  EXPECT_EQ(job.ranks, 4);
  EXPECT_EQ(job.recordings.front().rank, 2);
  EXPECT_EQ(job.recordings.front().backend, "nccl");
  EXPECT_EQ(job.recordings.front().format, "flight-recorder");
}

TEST(FlightRecorder, MakesNoWorkloadAndSaysWhatIsMissing) {
  const TrainingJob job = dump_of(ddp_entries(7, 1)).job();
  EXPECT_FALSE(job.workload);
  EXPECT_FALSE(job.forward);
  EXPECT_FALSE(job.backward);
  EXPECT_EQ(job.unknown.back(),
            "The Flight Recorder sees exchanges, and neither the forward nor the backward pass: for a workload, record "
            "some steps with torch.profiler (hbench import-job trace.json.gz).");
  EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("TORCH_NCCL_ENABLE_TIMING"))));
}

TEST(FlightRecorder, NamesTheSettingThatRecordsDurations) {
  const TrainingJob job = dump_of(ddp_entries(7, 0)).job();
  EXPECT_FALSE(job.buckets.front().duration);
  EXPECT_THAT(job.step.value, DoubleNear(0.220, 1e-9));
  EXPECT_THAT(job.unknown, Contains(HasSubstr("set TORCH_NCCL_ENABLE_TIMING=1")));
}

TEST(FlightRecorder, DoubtsDurationsBetweenNoticedTimes) {
  Json entries = ddp_entries(7, 1);
  for (Json& entry : entries) entry.erase("duration_ms");
  const TrainingJob job = dump_of(std::move(entries)).job();
  EXPECT_THAT(job.buckets.front().duration->value, DoubleNear(0.050, 1e-9));
  EXPECT_THAT(job.unknown, Contains(HasSubstr("100 ms late")));
}

TEST(FlightRecorder, BeginsWithAnyExchangeSinceTheRingOverwrites) {
  const Json all = ddp_entries(12, 1);
  for (std::size_t skipped = 1; skipped < 9; ++skipped) {
    const TrainingJob job = dump_of(Json(all.begin() + static_cast<std::ptrdiff_t>(skipped), all.end())).job();
    EXPECT_THAT(bucket_elements(job), ElementsAre(2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040)) << skipped;
    EXPECT_GE(job.steps, 9) << skipped;
  }
}

TEST(FlightRecorder, FindsTheRankThatTheOthersWaitForByItsShortDurations) {
  std::vector<Recording> recordings;
  for (int rank = 0; rank < 4; ++rank) {
    const RecordedFile file = dump_of(ddp_entries(6, rank == 3 ? 0.2 : 20), fmt::format("rank{}.json", rank));
    recordings.push_back(file.read().front());
  }
  const TrainingJob job = make_job(std::move(recordings), {});
  ASSERT_TRUE(job.straggler);
  EXPECT_EQ(job.straggler->rank, 3);
  EXPECT_LT(job.straggler->own.value, 0.1 * job.straggler->others.value);
}

TEST(FlightRecorder, CountsTheDelayOfARankOnceAndNotOncePerBucket) {
  std::vector<Recording> recordings;
  for (int rank = 0; rank < 4; ++rank)
    recordings.push_back(dump_of(ddp_entries(6, rank == 3 ? 1 : 19), fmt::format("rank{}.json", rank)).read().front());
  const TrainingJob job = make_job(std::move(recordings), {});
  EXPECT_NEAR(job.straggler.value().costs.value, 0.018, 1e-9) << "in each of 5 buckets it comes 18 ms later";
}

/// Equal exchanges, each after a pause in milliseconds.
Json equal_entries(const std::vector<double>& pauses) {
  Json entries = Json::array();
  double at = 0;
  for (const double pause : pauses) entries.push_back(flight_entry("nccl:all_reduce", {{6'553'600}}, at += pause, 12));
  return entries;
}

std::vector<double> repeated(const std::vector<double>& pauses, int times) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), pauses.begin(), pauses.end());
  return all;
}

TEST(FlightRecorder, TellsStepsOfEqualExchangesByTheirPauses) {
  for (const std::size_t skipped : {0U, 1U, 3U}) {
    std::vector<double> pauses = repeated({90, 20, 25, 15}, 10);
    pauses.erase(pauses.begin(), pauses.begin() + static_cast<std::ptrdiff_t>(skipped));
    const TrainingJob job = dump_of(equal_entries(pauses)).job();
    EXPECT_NEAR(job.fastest_step.value, 0.15, 1e-9) << skipped;
    EXPECT_NEAR(job.slowest_step.value, 0.15, 1e-9) << skipped;
    ASSERT_THAT(job.buckets, SizeIs(4));
    EXPECT_NEAR(job.buckets[1].launched.value, 0.02, 1e-9);
    EXPECT_NEAR(job.buckets[3].launched.value, 0.06, 1e-9);
  }
}

TEST(FlightRecorder, TakesEqualExchangesAtAnEvenPaceForAStepEach) {
  std::vector<double> pauses = repeated({100, 103, 98}, 20);
  pauses[30] = 5000;  // a checkpoint
  const TrainingJob job = dump_of(equal_entries(pauses)).job();
  EXPECT_NEAR(job.step.value, 0.1, 0.002);
  EXPECT_THAT(job.buckets, SizeIs(1));
}

TEST(FlightRecorder, DoesNotKnowTheStepOfEqualExchangesWhosePausesFollowNoRule) {
  std::vector<double> pauses;
  for (const int others : {1, 2, 5, 3, 1, 4, 2, 6, 3, 1, 5, 2}) {
    pauses.push_back(90);
    pauses.insert(pauses.end(), static_cast<std::size_t>(others), 20);
  }
  const TrainingJob job = dump_of(equal_entries(pauses)).job();
  EXPECT_EQ(job.step.value, 0);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("how many of them a step has is not known")));
}

TEST(FlightRecorder, DoesNotTakeTheRanksOfTwoDumpsForOne) {
  std::vector<Recording> recordings;
  for (const char* name : {"first_rank_0", "second_rank_0"})
    recordings.push_back(dump_of(ddp_entries(6, 1), name).read().front());
  expect_error([&] { make_job(recordings, {}); }, ExitCode::usage, HasSubstr("are both of rank 0"));
}

/// Written by PyTorch 2.15 on two processors with Gloo (a pickle with stack traces, and JSON): 12 steps of DDP, the
/// first with one bucket, and a loss after every fourth. Gloo's group has no name in it.
TEST(FlightRecorder, ReadsWhatPyTorchHasWritten) {
  std::vector<Recording> recordings;
  for (const char* name : {"gloo_trace_rank_0", "gloo_trace_rank_1.json"}) {
    const std::string file = std::string(HBENCH_SOURCE_DIR) + "/tests/analysis/data/" + name;
    recordings.push_back(read_recordings(file, {}).front());
    EXPECT_THAT(recordings.back().steps, SizeIs(10)) << name;
  }
  const TrainingJob job = make_job(std::move(recordings), {});
  EXPECT_THAT(bucket_elements(job), ElementsAre(4'216'842, 1'050'624));
  EXPECT_EQ(job.ranks, 2);
  EXPECT_EQ(job.recordings[0].rank, 0);
  EXPECT_EQ(job.recordings[1].rank, 1);
  EXPECT_EQ(job.recordings[1].backend, "gloo");
  EXPECT_GT(job.step.value, 0.05);  // one rank slept so long
  EXPECT_THAT(job.unknown, Contains(HasSubstr("only NCCL's are timed")));
}

/// A step of FSDP with equal blocks: all of its parts repeat, and only the whole is a step.
Json fsdp_entries(int steps, int blocks) {
  Json entries = Json::array();
  double at = 0;
  const auto add = [&](const char* name, int elements) {
    entries.push_back(flight_entry(name, {{elements}}, at += 1, 0.5));
  };
  for (int step = 0; step < steps; ++step) {
    for (int block = 0; block < blocks; ++block) add("nccl:_all_gather_base", 1'000'000);
    for (int block = 0; block < blocks; ++block) {
      add("nccl:_all_gather_base", 1'000'000);
      add("nccl:_reduce_scatter_base", 4'000'000);
    }
    at += 5;
  }
  return entries;
}

/// `[{'profiling_name': 'nccl:all_reduce', 'input_sizes': [[size]], 'time_created_ns': time}, ..]` as a pickle.
TEST(FlightRecorder, WasAListOfEntriesBeforePyTorch23) {
  std::string pickle = "(l";
  for (int step = 0; step < 4; ++step)
    for (const int size : {2000, 3000})
      pickle += fmt::format("(dVprofiling_name\nVnccl:all_reduce\nsVinput_sizes\n(l(lI{}\naasVtime_created_ns\nI{}\nsa",
                            size, 1'000'000'000 + step * 100'000'000 + size);
  const Recording recording = recordings_of(pickle + ".", "nccl_trace_rank_3").at(0);
  EXPECT_EQ(recording.format, "flight-recorder");
  EXPECT_EQ(recording.rank, 3);
  ASSERT_GE(recording.steps.size(), 2U);
  EXPECT_NEAR(recording.steps[0].time.value, 0.1, 1e-3);
}

TEST(FlightRecorder, SeesAStepOfEqualBlocksAsAWhole) {
  const TrainingJob job = dump_of(fsdp_entries(5, 12)).job();
  EXPECT_EQ(job.steps, 4);
  EXPECT_THAT(job.step.value, DoubleNear(0.041, 1e-9));
  EXPECT_THAT(job.buckets, SizeIs(12));
  ASSERT_THAT(job.others, SizeIs(1));
  EXPECT_EQ(job.others.front().operation, "all-gather");
  EXPECT_EQ(job.others.front().per_step, 24);
  EXPECT_EQ(job.recordings.front().steps.front().collectives.front().operation, "all-gather");
}

TEST(FlightRecorder, AsksWhichOfTwoGroupsExchangesGradients) {
  Json entries = Json::array();
  for (int step = 0; step < 6; ++step) {
    for (int layer = 0; layer < 8; ++layer) {
      entries.push_back(flight_entry("nccl:all_reduce", {{16, 1024, 512}}, 100.0 * step + layer, 0.5));
      entries.back()["process_group"] = {"7", "mesh_tp"};
    }
    entries.push_back(flight_entry("nccl:all_reduce", {{30'000'000}}, 100.0 * step + 60, 0.5));
    entries.back()["process_group"] = {"3", "mesh_dp"};
  }
  const RecordedFile file = dump_of(std::move(entries));
  expect_error([&] { file.job(); }, ExitCode::usage, HasSubstr("'mesh_dp', 'mesh_tp'"),
               "name the one that data parallelism has by --group");
  const TrainingJob job = file.job({.group = "mesh_dp"});
  EXPECT_THAT(bucket_elements(job), ElementsAre(30'000'000));
  EXPECT_THAT(job.step.value, DoubleNear(0.1, 1e-9));
}

TEST(FlightRecorder, LeavesOutFlagsBarriersAndEntriesForSeveralAtOnce) {
  Json entries = Json::array();
  for (int step = 0; step < 6; ++step) {
    const double begin = 100.0 * step;
    entries.push_back(flight_entry("nccl:all_reduce", {{1'000'000}}, begin + 10, 1));
    entries.push_back(flight_entry("nccl:all_reduce", {{500'000}, {250'000}}, begin + 20, 1));
    entries.push_back(flight_entry("nccl:coalesced", Json::array(), begin + 21, 1));
    entries.push_back(flight_entry("nccl:ALLREDUCE_coalesced", Json::array(), begin + 21, 1));
    entries.push_back(flight_entry("nccl:all_reduce", {{4096}}, begin + 30, 1));
    entries.back()["input_dtypes"] = {"Int"};
    entries.push_back(flight_entry("nccl:all_reduce_barrier", {{1}}, begin + 40, 1));
  }
  const TrainingJob job = dump_of(std::move(entries)).job();
  EXPECT_THAT(bucket_elements(job), ElementsAre(1'000'000, 750'000));
}

TEST(FlightRecorder, RefusesWhatShowsNoStep) {
  const auto refused = [](const RecordedFile& file, const char* why) {
    expect_error([&] { file.job(); }, ExitCode::usage, HasSubstr(why), HasSubstr("TORCH_FR_BUFFER_SIZE"));
  };
  refused(dump_of(Json::array()), "holds no exchange");
  Json entries = Json::array();
  for (int i = 1; i < 30; ++i) entries.push_back(flight_entry("nccl:all_reduce", {{1000 * i}}, i));
  refused(dump_of(entries), "nothing repeats in its 29 exchanges");
}

TEST(FlightRecorder, ReadsWhatACutFileHolds) {
  const std::string text = flight_dump(ddp_entries(9, 1)).dump();
  const TrainingJob job = RecordedFile("nccl_trace_rank_0", text.substr(0, text.size() / 2)).job();
  EXPECT_THAT(job.unknown, Contains(HasSubstr("ends before its list of entries does")));
  EXPECT_THAT(job.buckets, SizeIs(5));
}

TEST(FlightRecorder, SurvivesNumbersThatAreNone) {
  std::string text = flight_dump(ddp_entries(9, 1)).dump();
  for (std::size_t at = text.find("[7875584]"); at != text.npos; at = text.find("[7875584]", at))
    text.replace(at, 9, "[NaN]    ");
  const TrainingJob job = RecordedFile("nccl_trace_rank_0", text).job();
  EXPECT_THAT(bucket_elements(job), ElementsAre(2'049'000, 0, 6'563'840, 6'637'568, 2'431'040));
}

TEST(FlightRecorder, RefusesTheJsonOfAnotherProgram) {
  expect_error([] { RecordedFile("a.json", R"({"entries": [{"name": "a"}], "version": 3})").job(); }, ExitCode::usage,
               HasSubstr("no recording of a training job has this format"), HasSubstr("flight-recorder"));
}

TEST(FlightRecorder, ReadsWhateverDamageLeavesOrSaysWhyNot) {
  const std::string text = flight_dump(ddp_entries(4, 1)).dump();
  TemporaryFolder folder;
  const std::string file = (folder / "rank_0.toml").string();
  support::survive_mutations(text, 200, 7, [&](const std::string& mutant) {
    write_bytes(file, mutant);
    make_job(read_recordings(file, "flight-recorder"), {});
  });
}

}  // namespace
}  // namespace hbench::jobs_flight_recorder_test
