
#include "tests/analysis/jobs_examples.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"

namespace hbench::jobs_nccl_inspector_test {
namespace {

using Json = nlohmann::json;

std::vector<std::int64_t> bucket_bytes(const TrainingJob& job) {
  std::vector<std::int64_t> bytes;
  for (const JobBucket& bucket : job.buckets) bytes.push_back(bucket.bytes);
  return bytes;
}

/// What one rank of a DDP job writes; `verbose`: with times.
std::vector<Json> ddp_log(int rank, int steps, bool verbose, double wait = 2) {
  std::vector<Json> log;
  for (int step = 0; step < steps; ++step)
    for (const auto& [elements, at] : kBuckets)
      log.push_back(inspected(rank, "AllReduce", elements * 4, verbose ? 1 + 220.0 * step + at : 0, wait));
  return log;
}

std::string lines(const std::vector<Json>& log, int indent = -1) {
  std::string text;
  for (const Json& each : log) text += each.dump(indent) + "\n";
  return text;
}

TEST(NcclInspector, ShowsBucketsAndStepsOfAVerboseLog) {
  const TrainingJob job = RecordedFile("a.log", lines(ddp_log(1, 6, true))).job();
  EXPECT_THAT(bucket_bytes(job), ElementsAre(8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160));
  EXPECT_EQ(job.steps, 5);
  EXPECT_THAT(job.step.value, DoubleNear(0.220, 1e-6));
  EXPECT_THAT(job.buckets[2].launched.value, DoubleNear(0.016, 1e-6));
  EXPECT_THAT(job.buckets[2].duration->value, DoubleNear(0.002, 1e-6));
  EXPECT_EQ(job.buckets[2].elements, 0);
  EXPECT_EQ(job.ranks, 4);
  EXPECT_EQ(job.recordings.front().rank, 1);
  EXPECT_EQ(job.recordings.front().format, "nccl-inspector");
  const RecordedCollective& first = job.recordings.front().steps.front().collectives.front();
  EXPECT_THAT(first.began->value, DoubleNear(122e-6, 1e-9));
  EXPECT_FALSE(job.workload);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("only their bytes")));
  EXPECT_EQ(job.unknown.back(),
            "NCCL Inspector sees exchanges, and neither the forward nor the backward pass: for a workload, record some "
            "steps with torch.profiler (hbench import-job trace.json.gz).");
}

TEST(NcclInspector, KnowsNoTimeOfAStepWithoutVerboseMode) {
  const TrainingJob job = RecordedFile("a.log", lines(ddp_log(0, 6, false))).job();
  EXPECT_THAT(bucket_bytes(job), ElementsAre(8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160));
  EXPECT_EQ(job.steps, 6);
  EXPECT_EQ(job.step.value, 0);
  EXPECT_THAT(job.communication.value, DoubleNear(0.010, 1e-6));
  EXPECT_THAT(job.unknown, Contains(HasSubstr("NCCL_INSPECTOR_DUMP_VERBOSE=1")));
}

TEST(NcclInspector, ReadsObjectsOverSeveralLinesAndLists) {
  const std::vector<Json> log = ddp_log(0, 6, true);
  for (const std::string& text : {lines(log, 2), Json(log).dump(1)})
    EXPECT_EQ(RecordedFile("a.log", text).job().steps, 5) << text.substr(0, 40);
}

TEST(NcclInspector, FindsTheStragglerAmongTheRanksOfOneFile) {
  std::vector<Json> log;
  for (int rank = 0; rank < 4; ++rank)
    for (Json& each : ddp_log(rank, 6, true, rank == 2 ? 1 : 9)) log.push_back(std::move(each));
  const TrainingJob processes = RecordedFile("all.log", lines(log)).job();
  EXPECT_THAT(processes.recordings, SizeIs(4));
  ASSERT_TRUE(processes.straggler);
  EXPECT_EQ(processes.straggler->rank, 2);
  for (Json& each : log) each["metadata"]["pid"] = 7;  // one process with four GPUs
  const TrainingJob one_process = RecordedFile("all.log", lines(log)).job();
  EXPECT_THAT(one_process.recordings, SizeIs(4));
  EXPECT_EQ(one_process.straggler->rank, 2);
}

TEST(NcclInspector, TakesTheWriterOfABatchFromItsFirstObject) {
  std::vector<Json> log;
  for (Json& each : ddp_log(3, 6, true)) {
    if (log.size() % 6 == 0) {
      log.push_back({{"header", each["header"]},
                     {"metadata", each["metadata"]},
                     {"dump_stats", {{"coll_records", 5}, {"coll_dropped_total", 12}, {"p2p_records", 0}}}});
    }
    log.push_back({{"coll_perf", each["coll_perf"]}});
  }
  const TrainingJob job = RecordedFile("a.log", lines(log)).job();
  EXPECT_EQ(job.recordings.front().rank, 3);
  EXPECT_EQ(job.steps, 5);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("has overwritten exchanges")));
  log.erase(log.begin());
  expect_error([&] { RecordedFile("a.log", lines(log)).job(); }, ExitCode::usage,
               HasSubstr("does not say whose it is"));
}

TEST(NcclInspector, CountsWhatARankPutsIntoAReduceScatter) {
  std::vector<Json> log;
  for (int step = 0; step < 5; ++step)
    for (int block = 0; block < 3; ++block) {
      log.push_back(inspected(0, "AllGather", 1'000'000, 1 + 100.0 * step + block, 1));
      log.push_back(inspected(0, "ReduceScatter", 1'000'000 + block, 50 + 100.0 * step + block, 1));
    }
  const TrainingJob job = RecordedFile("a.log", lines(log)).job();
  EXPECT_THAT(bucket_bytes(job), ElementsAre(4'000'000, 4'000'004, 4'000'008));
  EXPECT_EQ(job.others.front().bytes, 3'000'000);
}

TEST(NcclInspector, RefusesTwoGroupsWithoutTimes) {
  std::vector<Json> log = ddp_log(0, 6, false);
  for (Json each : ddp_log(0, 6, false)) {
    each["header"]["id"] = "0x1";
    each["header"]["comm_name"] = "tensor parallel";
    log.push_back(std::move(each));
  }
  expect_error([&] { RecordedFile("a.log", lines(log)).job(); }, ExitCode::usage, HasSubstr("2 groups"),
               "record with NCCL_INSPECTOR_DUMP_VERBOSE=1, which writes times");
}

TEST(NcclInspector, ReadsWhatACutFileHolds) {
  const std::string text = lines(ddp_log(0, 9, true));
  const TrainingJob job = RecordedFile("a.log", text.substr(0, text.size() - 100)).job();
  EXPECT_EQ(job.steps, 8);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("ends within an exchange")));
}

TEST(NcclInspector, LeavesNumbersThatAreNoneUnknown) {
  std::vector<Json> log = ddp_log(0, 6, true);
  for (Json& each : log) each["coll_perf"]["coll_exec_time_us"] = nullptr;
  std::string text = lines(log);
  for (std::size_t at = text.find("null"); at != text.npos; at = text.find("null", at)) text.replace(at, 4, "NaN ");
  const TrainingJob job = RecordedFile("a.log", text).job();
  EXPECT_FALSE(job.buckets.front().duration);
  EXPECT_EQ(job.steps, 5);
}

TEST(NcclInspector, ReadsWhateverDamageLeavesOrSaysWhyNot) {
  TemporaryFolder folder;
  const std::string file = (folder / "a.toml").string();
  support::survive_mutations(lines(ddp_log(0, 4, true)), 200, 7, [&](const std::string& mutant) {
    write_bytes(file, mutant);
    make_job(read_recordings(file, "nccl-inspector"), {});
  });
}

}  // namespace
}  // namespace hbench::jobs_nccl_inspector_test
