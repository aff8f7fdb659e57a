// A TorchScript file as a workload, from an empty folder: measured, simulated and refused.

#include <set>

#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::own_model_sweep_test {
namespace {

using nlohmann::json;

class ATorchScriptFile : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
    std::filesystem::copy(std::filesystem::path(HBENCH_SOURCE_DIR) / "bench/examples/my-cnn.pt", workplace_ / "cnn.pt");
  }

  Outcome sweep(std::vector<std::string> more) const {
    std::vector<std::string> arguments = words_in(
        "sweep --workload cnn.pt --input 3x32x32 --batch 4 --device cpu --algorithm ring --compressor none --launches "
        "1 --steps 3 --warmup 1 --executor threads --oversubscribe 2 --json --no-calibrate --profile hkbu-10gbe");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace_.run(arguments);
  }

  const Workplace workplace_;
};

TEST_F(ATorchScriptFile, IsMeasuredOnTwoRanksAndPredictedOnMore) {
  const Outcome outcome = sweep({"--gpus", "2,16", "--evidence", "measured,simulated"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("hbench: recorded on this machine: cnn.pt:3x32x32: 6 tensors, "),
                                 HasSubstr("recorded by hbench calibrate: median of 10 steps, batch 4, float32, "
                                           "1 thread of ")));
  int measured = 0, simulated = 0;
  for (const json& point : json::parse(outcome.out)) {
    EXPECT_EQ(point.at("workload"), "cnn.pt:3x32x32");
    EXPECT_EQ(point.at("status"), "done");
    if (point.at("evidence") == "measured") ++measured;
    if (point.at("evidence") == "simulated") ++simulated;
  }
  EXPECT_EQ(measured, 2);   // one process alone, ring on 2
  EXPECT_EQ(simulated, 2);  // ring on 2 and 16
}

TEST_F(ATorchScriptFile, IsAnotherQuestionOnceItHasChanged) {
  const std::vector<std::string> measured{"--gpus", "1", "--evidence", "measured", "--resume"};
  ASSERT_EQ(sweep(measured).code, 0);
  ASSERT_EQ(sweep(measured).code, 0);
  EXPECT_EQ(exported(workplace_).size(), 2u) << "answered by the first run";
  std::string bytes = bytes_of(workplace_ / "cnn.pt");
  write_bytes(workplace_ / "cnn.pt", bytes + '\0');  // after the end of the archive
  ASSERT_EQ(sweep(measured).code, 0);
  const json points = exported(workplace_);
  ASSERT_EQ(points.size(), 4u);
  std::set<std::string> digests;
  for (const json& point : points) digests.insert(point.at("model_digest").get<std::string>());
  EXPECT_EQ(digests.size(), 2u);
}

TEST_F(ATorchScriptFile, IsRefusedInOneLineBeforeAnythingIsMeasured) {
  const auto refused = [&](const std::vector<std::string>& more, std::string_view message, std::string_view hint) {
    std::vector<std::string> arguments{"sweep", "--gpus", "2", "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_mistake(workplace_.run(arguments), 2, message, hint);
    EXPECT_FALSE(std::filesystem::exists(workplace_ / "hbench.db"));
  };
  refused({"--workload", "cnn.pt"}, "cnn.pt takes an input of some shape, and no --input says which",
          "--input 3x224x224");
  refused({"--workload", "cnn.pt", "--input", "1x32x32"}, "cnn.pt does not take 16x1x32x32: ", "--input");
  refused({"--workload", "cnn.pt", "--input", "3by4"}, "--input 3by4: ", "3x224x224");
  refused({"--workload", "none.pt", "--input", "4"}, "cannot read none.pt: No such file or directory", "path");
  refused({"--workload", "resnet18", "--input", "4"}, "--input and --loss are for a TorchScript model", "--workload");
  refused({"--workload", "cnn.pt,./cnn.pt", "--input", "3x32x32"}, "two models are called 'cnn.pt:3x32x32'", "rename");
  refused({"--workload", "cnn.pt", "--input", "3x32x32", "--profile", "aws-p33"}, "aws-p33", "known");
  write_bytes(workplace_ / "model.safetensors", std::string("\x40\0\0\0\0\0\0\0{\"w\":", 14));
  refused({"--workload", "model.safetensors", "--input", "4"},
          "model.safetensors is no TorchScript file: it is safetensors: weights without code", "torch.jit.script");
}

TEST_F(ATorchScriptFile, IsRecordedForVerbsThatTakeTimelines) {
  expect_mistake(workplace_.run({"choose", "--workload", "cnn.pt", "--gpus", "8"}), 2,
                 "cnn.pt is a model, and its step is not recorded", "hbench calibrate --model cnn.pt --input");
  const Outcome recorded = workplace_.run(
      {"calibrate", "--model", "cnn.pt", "--input", "3x32x32", "--batch", "4", "--device", "cpu", "--steps", "2"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  EXPECT_THAT(recorded.out, AllOf(HasSubstr("cnn.pt:3x32x32: 6 tensors, "), HasSubstr("Wrote cnn.toml")));
  const Outcome swept = workplace_.run({"bandwidth", "--workload", "cnn.toml", "--gpus", "16", "--json"});
  EXPECT_EQ(swept.code, 0) << swept.err;
}

TEST_F(ATorchScriptFile, IsNotRecordedByADryRun) {
  const Outcome outcome = sweep({"--gpus", "2", "--evidence", "measured,simulated", "--dry-run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("no recorded timeline; hbench calibrate --model cnn.pt records one"));
  EXPECT_FALSE(std::filesystem::exists(workplace_ / "hbench-calibration"));
}

}  // namespace
}  // namespace hbench::own_model_sweep_test
