// hbench recover: ranks that are killed on purpose, and what goes on.

#include <nlohmann/json.hpp>

#include <filesystem>

#include "bench/worker/protocol.hpp"
#include "collectives/base/file.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::recover_program_test {
namespace {

using nlohmann::json;

constexpr const char* kSmall = "recover --workload lenet5 --batch 4 --steps 20 --warmup 2 --every 4 --quiet ";

// Steps 8 and 9 take as long as the checkpoint of step 8 is written, also on a busy machine.
TEST(Recover, LosesARankAndEndsAtTheSameBits) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(
      words_in(kSmall + std::string("--inject kill:rank=1@step=10,delay:rank=0:100ms@step=8..9 --out answer.json "
                                    "--on-failure restart,shrink,stop --checkpoint kept")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json runs = json::parse(bytes_of(workplace / "answer.json")).at("runs");
  ASSERT_EQ(runs.size(), 4) << "the undisturbed one, and three that lose a rank";
  EXPECT_EQ(runs[0].at("ends"), "reference");
  EXPECT_EQ(runs[0].at("checkpoint"), nullptr);
  for (const json& run : {runs[1], runs[2]}) {
    ASSERT_EQ(run.at("losses").size(), 1);
    const json& loss = run.at("losses")[0];
    EXPECT_THAT(loss.at("reason").get<std::string>(), HasSubstr("rank 1 was ended by signal 9"));
    EXPECT_EQ(loss.at("steps_done"), 10);
    EXPECT_EQ(loss.at("steps_resumed"), 8);
    EXPECT_EQ(run.at("steps_lost"), 2);
    EXPECT_GT(run.at("seconds_lost"), 0);
    EXPECT_GT(run.at("speed_after"), 0);
    EXPECT_GT(run.at("checkpoint").at("bytes"), 4 * 60000);
  }
  EXPECT_EQ(runs[1].at("ends"), "same bits");
  EXPECT_EQ(runs[2].at("ends"), "ended");
  EXPECT_EQ(runs[2].at("losses")[0].at("ranks"), 1);
  EXPECT_EQ(runs[3].at("ends"), "lost");
  EXPECT_TRUE(std::filesystem::exists(workplace / "kept/restart/step-20-rank-1-of-2.checkpoint"));
  EXPECT_TRUE(std::filesystem::exists(workplace / "kept/shrink/step-20-rank-0-of-1.checkpoint"));
}

TEST(Recover, GoesOnAfterEachOfSeveralLosses) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(
      words_in(kSmall + std::string("--on-failure restart --compressor ef:topk:0.1 --out answer.json --inject "
                                    "kill:rank=0@step=1,kill:rank=1@step=7,kill:rank=0@step=15")));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json run = json::parse(bytes_of(workplace / "answer.json")).at("runs")[1];
  EXPECT_EQ(run.at("losses").size(), 3);
  EXPECT_EQ(run.at("losses")[0].at("steps_resumed"), 0) << "there was no checkpoint yet";
  EXPECT_EQ(run.at("ends"), "same bits");
}

/// Two ranks of one process, which write after each step what they have, and go on from it.
std::string order(const std::string& folder) {
  WorkOrder order;
  order.asked = {.evidence = Evidence::measured,
                 .workload = "lenet5",
                 .gpus = 2,
                 .nodes = 1,
                 .strategy = {.algorithm = "ring", .compressor = "ef:topk:0.1", .fusion = "none", .overlap = true},
                 .profile = "local",
                 .batch_per_gpu = 4,
                 .image_size = 32,
                 .training = {.device = "", .executor = "threads"}};
  order.steps = 400;
  order.checkpoint = CheckpointRequest{.folder = folder, .every = 1, .resume = true};
  return to_json(order);
}

TEST(Recover, ByForceAtAnyMomentLosesNoMoreThanAStep) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  write_file(workplace / "whole.json", order((workplace / "whole").string()));
  write_file(workplace / "killed.json", order((workplace / "killed").string()));
  const Outcome outcome = workplace.shell(R"sh(
worker="$(dirname "$HBENCH")/../libexec/hbench/hbench-worker"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
digest() { sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$1" | sort -u; }
"$worker" worker "$(cat whole.json)" > whole.out
kills=0 begun=0
while [ $kills -lt ${HBENCH_KILLS:-8} ]; do
  "$worker" worker "$(cat killed.json)" > "out.$kills" &
#Steps have begun, and then some of them pass.
  for try in $(seq 1 400); do grep -q '"step"' "out.$kills" && break; sleep 0.02; done
  sleep 0.0$((kills * 37 % 100 / 10))$((kills * 37 % 10))
  kill -KILL $! 2> /dev/null && begun=$((begun + 1))
  wait $! 2> /dev/null
  kills=$((kills + 1))
done
"$worker" worker "$(cat killed.json)" > killed.out || exit 1
[ -z "$(find killed -name '.hbench-*')" ] || echo 'only a part of a checkpoint is left'
[ $begun -ge 3 ] || echo "only $begun were killed"
grep -c '"step"' killed.out
[ "$(digest whole.out)" = "$(digest killed.out)" ] && echo 'the same' || cat killed.out
)sh");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("the same"), Not(HasSubstr("only")))) << outcome.err;
}

TEST(Recover, EndsWhereItsFolderCannotBeUsed) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const std::string flags = kSmall + std::string("--on-failure restart --checkpoint ");
  const Outcome unwritten = workplace.run(words_in(flags + "/proc/none"));
  EXPECT_EQ(unwritten.code, 3);
  EXPECT_THAT(unwritten.err, HasSubstr("cannot write the checkpoint /proc/none/restart/"));
  std::filesystem::create_directories(workplace / "kept/restart");
  write_file(workplace / "kept/restart/step-4-rank-0-of-2.checkpoint", "of another job");
  const Outcome used = workplace.run(words_in(flags + "kept"));
  EXPECT_EQ(used.code, 2);
  EXPECT_THAT(used.err, HasSubstr("kept/restart has checkpoints of an earlier job"));
  EXPECT_TRUE(std::filesystem::exists(workplace / "kept/restart/step-4-rank-0-of-2.checkpoint"));
}

TEST(Recover, RefusesWhatCannotBe) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const std::pair<const char*, const char*> mistakes[] = {
      {"--inject kill:rank=2@step=5", "kill:rank=2@step=5: the job has ranks 0 to 1"},
      {"--inject kill:rank=0@step=22", "the job has steps 0 to 21"},
      {"--inject kill:0", "--inject kill:0: there is no '@'"},
      {"--on-failure resume", "--on-failure resume: there is no such way to go on"},
      {"--every 0", "--every"},
      {"--method async-ps --algorithm ps --fusion none --oversubscribe 4", "async-ps has no checkpoints"},
      {"--compressor none,fp16", "one training at a time is recovered"},
  };
  for (const auto& [flags, message] : mistakes) {
    const Outcome outcome = workplace.run(words_in(kSmall + std::string(flags)));
    EXPECT_EQ(outcome.code, 2) << flags;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
  }
}

}  // namespace
}  // namespace hbench::recover_program_test
