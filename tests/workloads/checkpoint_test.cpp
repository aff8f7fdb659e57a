// Jobs that end and go on from what their ranks have written.

#include "workloads/engine/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/workloads/training_cases.hpp"
#include "workloads/training.hpp"

namespace hbench::checkpoint_test {
namespace {

namespace fs = std::filesystem;
using What = CheckpointReport::What;

struct End {
  std::uint64_t digest = 0;
  int steps = 0;  ///< that were done
  std::vector<CheckpointReport> reports;

  std::vector<int> steps_of(What what) const {
    std::vector<int> all;
    for (const CheckpointReport& report : reports)
      if (report.what == what) all.push_back(report.steps);
    return all;
  }
};

std::vector<Outcome<End>> trained(const TrainingRequest& request) {
  return on_all_ranks(make_thread_endpoints(request.world.ranks()), [&](Endpoint& endpoint) {
    End end;
    end.digest = train(
                     request, &endpoint, [&](const StepReport&) { ++end.steps; }, [](const Learned&) {},
                     [&](const CheckpointReport& report) { end.reports.push_back(report); })
                     .digest;
    return end;
  });
}

TrainingRequest request_for(const std::string& method, const std::string& compressor, const std::string& optimizer,
                            int workers = 2) {
  TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
  request.strategy.method = parse_method(method);
  request.strategy.compressor = parse_compressor(compressor);
  request.strategy.optimizer = parse_optimizer(optimizer);
  if (request.strategy.compressor.needs_fixed_buckets()) request.strategy.fusion = parse_fusion("none");
  request.warmup_steps = 2;
  request.steps = 10;
  return request;
}

/// The same after the first `steps` steps, and going on.
TrainingRequest begun(TrainingRequest request, const fs::path& folder, int steps) {
  request.checkpoint = CheckpointRequest{.folder = folder, .every = 2};
  const int before = request.warmup_steps + request.strategy.method.plan(true).start();
  request.steps = std::max(1, steps - before);
  return request;
}
TrainingRequest going_on(TrainingRequest request, const fs::path& folder) {
  request.checkpoint = CheckpointRequest{.folder = folder, .every = 100, .resume = true};
  return request;
}

TEST(Checkpoints, GoOnToTheBitsOfTheJobThatNeverEnded) {
  for (const char* method : {"synchronous", "zero:1", "zero:2", "local-sgd:2", "diloco:2:1:0:0:0.7:0.9"})
    for (const char* optimizer : {"momentum", "adam"}) {
      SCOPED_TRACE(fmt::format("{} {}", method, optimizer));
      const TemporaryFolder folder;
      const TrainingRequest request = request_for(method, "none", optimizer);
      const auto whole = trained(request);
      ASSERT_EQ(trained(begun(request, folder.path(), 6))[0].failure, "");
      const auto rest = trained(going_on(request, folder.path()));
      ASSERT_EQ(rest[1].failure, "");
      EXPECT_THAT(rest[1].value.steps_of(What::brought), ElementsAre(6));
      EXPECT_EQ(rest[0].value.digest, whole[0].value.digest);
    }
}

TEST(Checkpoints, BringBackWhatCompressorsHaveNotSentYet) {
  for (const char* compressor : {"ef:topk:0.1", "qsgd", "dgc:0.1", "ef:powersgd:2", "ef2:sign", "randomk:0.2"}) {
    SCOPED_TRACE(compressor);
    const TemporaryFolder folder;
    const TrainingRequest request = request_for("synchronous", compressor, "momentum");
    const auto whole = trained(request);
    ASSERT_EQ(whole[0].failure, "");
    trained(begun(request, folder.path(), 6));
    EXPECT_EQ(trained(going_on(request, folder.path()))[0].value.digest, whole[0].value.digest);
  }
}

TEST(Checkpoints, OfMethodsThatBeginInAnotherWayGoOnInTheirOwn) {
  for (const auto& [method, compressor] :
       {std::pair("1-bit-adam:4", "none"), std::pair("qadam:4", "none"), std::pair("late-compression:4", "ef:topk:0.1"),
        std::pair("post-local-sgd:2:4", "none")}) {
    SCOPED_TRACE(method);
    const TemporaryFolder folder;
    const TrainingRequest request = request_for(method, compressor, method[0] == 'p' ? "momentum" : "adam");
    const auto whole = trained(request);
    ASSERT_EQ(whole[0].failure, "");
    trained(begun(request, folder.path(), 6));
    const auto rest = trained(going_on(request, folder.path()));
    EXPECT_THAT(rest[0].value.steps_of(What::brought), Not(IsEmpty()));
    EXPECT_EQ(rest[0].value.digest, whole[0].value.digest);
  }
}

TEST(Checkpoints, GoOnInTheOrderOfTheData) {
  const TemporaryFolder folder;
  TrainingRequest request = request_for("synchronous", "none", "momentum");
  request.model = "linear1d";
  request.data = "mnist1d";
  request.batch = 200;
  request.epochs = 3;
  const auto whole = trained(request);
  ASSERT_EQ(whole[0].failure, "");
  request.checkpoint = CheckpointRequest{.folder = folder.path(), .every = 7};
  trained(request);
  // As a job leaves it that is killed after its third checkpoint but one.
  for (int rank = 0; rank < 2; ++rank) fs::remove(folder.path() / fmt::format("step-28-rank-{}-of-2.checkpoint", rank));
  const auto rest = trained(going_on(request, folder.path()));
  EXPECT_EQ(rest[0].value.steps, 30 - 21);
  EXPECT_EQ(rest[0].value.digest, whole[0].value.digest);
}

TEST(Checkpoints, OfARankAloneGoOnToo) {
  const TemporaryFolder folder;
  TrainingRequest request = request_for("synchronous", "none", "adam", 1);
  const auto whole = trained(request);
  trained(begun(request, folder.path(), 6));
  const auto rest = trained(going_on(request, folder.path()));
  EXPECT_EQ(rest[0].value.steps, 6);
  EXPECT_EQ(rest[0].value.digest, whole[0].value.digest);
}

/// A file's bytes with one changed, or without the last.
void damage(const fs::path& file, bool cut) {
  const auto size = fs::file_size(file);
  if (cut) return fs::resize_file(file, size - 1);
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(size / 2));
  const int byte = stream.peek();
  stream.put(static_cast<char>(byte ^ 1));
}

TEST(Checkpoints, ThatOneRankFindsDamagedAreLeftByAllForOlderOnes) {
  for (const bool cut : {false, true}) {
    const TemporaryFolder folder;
    const TrainingRequest request = request_for("synchronous", "none", "momentum");
    const auto whole = trained(request);
    trained(begun(request, folder.path(), 6));
    damage(folder.path() / "step-6-rank-1-of-2.checkpoint", cut);
    const auto rest = trained(going_on(request, folder.path()));
    EXPECT_THAT(rest[1].value.steps_of(What::damaged), ElementsAre(6));
    EXPECT_THAT(rest[0].value.steps_of(What::brought), ElementsAre(4));
    EXPECT_EQ(rest[0].value.digest, whole[0].value.digest);
  }
}

TEST(Checkpoints, ThatARankHasNotAreNone) {
  const TemporaryFolder folder;
  const TrainingRequest request = request_for("synchronous", "none", "momentum");
  trained(begun(request, folder.path(), 6));
  for (const int step : {2, 4, 6}) fs::remove(folder.path() / fmt::format("step-{}-rank-1-of-2.checkpoint", step));
  const auto rest = trained(going_on(request, folder.path()));
  EXPECT_EQ(rest[0].value.steps, 12) << "from the beginning";
}

TEST(Checkpoints, AreKeptInThreesAndWithoutRests) {
  const TemporaryFolder folder;
  TrainingRequest request = request_for("synchronous", "none", "momentum");
  request.checkpoint = CheckpointRequest{.folder = folder.path() / "made", .every = 1};
  const auto all = trained(request);
  ASSERT_EQ(all[0].failure, "");
  EXPECT_EQ(all[0].value.steps_of(What::written).size(), 12U);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path() / "made")) names.push_back(entry.path().filename());
  EXPECT_THAT(names, UnorderedElementsAre("step-10-rank-0-of-2.checkpoint", "step-11-rank-0-of-2.checkpoint",
                                          "step-12-rank-0-of-2.checkpoint", "step-10-rank-1-of-2.checkpoint",
                                          "step-11-rank-1-of-2.checkpoint", "step-12-rank-1-of-2.checkpoint"));
  for (const CheckpointReport& report : all[0].value.reports) {
    EXPECT_GT(report.bytes, 4 * 60000) << "LeNet-5 has 61,706 parameters";
    EXPECT_GT(report.writing, Seconds(0));
  }
}

TEST(Checkpoints, OfAnotherNumberOfRanksBringBackWhatAllHaveAlike) {
  const TemporaryFolder folder;
  trained(begun(request_for("synchronous", "ef:topk:0.1", "momentum", 3), folder.path(), 6));
  const auto fewer = trained(going_on(request_for("synchronous", "ef:topk:0.1", "momentum", 2), folder.path()));
  ASSERT_EQ(fewer[0].failure, "");
  EXPECT_EQ(fewer[0].value.steps, 6);
  EXPECT_THAT(fewer[1].value.steps_of(What::brought), ElementsAre(6));
}

TEST(Checkpoints, OfPartsOfTheOptimizerAreForAsManyRanks) {
  const TemporaryFolder folder;
  trained(begun(request_for("zero:1", "none", "momentum", 3), folder.path(), 6));
  const auto fewer = trained(going_on(request_for("zero:1", "none", "momentum", 2), folder.path()));
  EXPECT_THAT(fewer[0].failure, HasSubstr("each of 3 ranks has kept a part of the optimizer's state"));
}

TEST(Checkpoints, OfAnotherJobOrVersionAreRefused) {
  const TemporaryFolder folder;
  const TrainingRequest request = request_for("synchronous", "none", "momentum");
  trained(begun(request, folder.path(), 6));
  EXPECT_THAT(trained(begun(request, folder.path(), 6))[0].failure, HasSubstr("has checkpoints of an earlier job"));
  const auto other = trained(going_on(request_for("synchronous", "none", "adam"), folder.path()));
  EXPECT_THAT(other[1].failure, AllOf(HasSubstr("lenet5 by synchronous, none, momentum"), HasSubstr("adam")));
  const fs::path newest = folder.path() / "step-6-rank-0-of-2.checkpoint";
  std::fstream(newest, std::ios::in | std::ios::out).write("hbench checkpoint 9", 19);
  EXPECT_THAT(trained(going_on(request, folder.path()))[0].failure, HasSubstr("another version of hbench"));
}

TEST(Checkpoints, ThatCannotBeWrittenEndTheJobAndLeaveThoseBefore) {
  const TemporaryFolder folder;
  TrainingRequest request = request_for("synchronous", "none", "momentum");
  request.timeout = Seconds(1);  // of the rank that waits for the one that fails
  fs::create_directories(folder.path() / "step-6-rank-0-of-2.checkpoint" / "in the way");
  const auto ended = trained(begun(request, folder.path(), 10));
  EXPECT_THAT(ended[0].failure, AllOf(HasSubstr("cannot write the checkpoint"), HasSubstr("those before it stay")));
  fs::remove_all(folder.path() / "step-6-rank-0-of-2.checkpoint");
  EXPECT_THAT(trained(going_on(request, folder.path()))[0].value.steps_of(What::brought), ElementsAre(4));
}

TEST(Checkpoints, AreRefusedWhereRanksAreNotAfterTheSameStep) {
  for (const char* method : {"async-ps", "ssp", "decentralized", "diloco:4:2:1:0:0.7:0.9"})
    EXPECT_THAT(refuse_checkpoints(request_for(method, "none", "sgd").strategy, {.workers = 2}),
                HasSubstr("has no checkpoints"))
        << method;
  const TrainingStrategy synchronous = request_for("synchronous", "none", "sgd").strategy;
  EXPECT_EQ(refuse_checkpoints(synchronous, {.workers = 2}), "");
  EXPECT_THAT(refuse_checkpoints(synchronous, {.workers = 2, .servers = 1}), HasSubstr("ranks that only serve"));
}

}  // namespace
}  // namespace hbench::checkpoint_test
