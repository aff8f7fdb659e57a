
#include "collectives/endpoints/endpoint.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::calibrated_sweep_test {
namespace {

using nlohmann::json;

/// A quick sweep that calibrates CPU cores.
std::vector<std::string> calibrating_sweep(std::vector<std::string> more, const std::string& executor = "threads") {
  std::vector<std::string> arguments{
      "sweep",        "--calibrate", "--device",        "cpu",        "--executor", executor, "--gpus",      "1..8",
      "--workload",   "lenet5",      "--image-size",    "32",         "--batch",    "4",      "--launches",  "1",
      "--steps",      "4",           "--profile",       "hkbu-10gbe", "--warmup",   "1",      "--algorithm", "ring",
      "--compressor", "none",        "--oversubscribe", "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<json> of_evidence(const json& points, const char* evidence) {
  std::vector<json> found;
  for (const json& point : points)
    if (point.at("evidence") == evidence) found.push_back(point);
  return found;
}

const std::string kFolder = "hbench-calibration/cpu-float32-batch4-32px-2ranks-threads";

TEST(CalibratedSweep, MeasuresWhatThereIsAndSimulatesTheRestOnNodesLikeThisMachine) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(calibrating_sweep({"--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("calibrated: 2 ranks: "));
  const json points = json::parse(outcome.out);
  EXPECT_EQ(of_evidence(points, "measured").size(), 3u);  // one process alone, ring on 1 and 2
  const std::vector<json> simulated = of_evidence(points, "simulated");
  ASSERT_EQ(simulated.size(), 4u);  // ring on 1, 2, 4, 8
  for (const json& point : simulated) {
    EXPECT_EQ(point.at("profile"), "this-machine-hkbu-10gbe");
    EXPECT_EQ(point.at("image_size"), 32);
    EXPECT_EQ(point.at("batch_per_gpu"), 4);
    EXPECT_GT(point.at("efficiency"), 0);
  }
  EXPECT_EQ(simulated.back().at("gpus"), 8);
  const std::string report = bytes_of(workplace / "hbench-report/index.html");
  EXPECT_THAT(report, HasSubstr("ring on this-machine-hkbu-10gbe"));
  EXPECT_THAT(report, HasSubstr("How far from what was measured here"));
  EXPECT_THAT(report, HasSubstr("On 1 point measured on this machine"));

  const std::string profile = bytes_of(workplace / (kFolder + "/this-machine-hkbu-10gbe.toml"));
  const Outcome again = workplace.run(calibrating_sweep({"--json", "--resume"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out), points) << "nothing is measured or simulated again";
  EXPECT_EQ(bytes_of(workplace / (kFolder + "/this-machine-hkbu-10gbe.toml")), profile);
}

TEST(CalibratedSweep, ThatCannotCalibrateSaysSoAndDoesTheRest) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  write_bytes(workplace / "hbench-calibration", "a file where the folder would be");
  const Outcome outcome = workplace.run(calibrating_sweep({"--json"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no nodes like this machine are predicted: cannot make " + kFolder));
  const json points = json::parse(outcome.out);
  EXPECT_EQ(points.size(), 3u);
  EXPECT_EQ(of_evidence(points, "measured").size(), 3u);
}

TEST(CalibratedSweep, ThatLacksMpiSaysSoOnceAndKeepsWhatItMeasured) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(calibrating_sweep({"--json"}, "mpi"), {{"PATH", "/nowhere"}});
  EXPECT_EQ(outcome.code, 3) << "cases of more than one process have failed";
  const std::string_view note = "no nodes like this machine are predicted: measuring what joins the ranks: ";
  EXPECT_THAT(outcome.err, HasSubstr(note));
  EXPECT_EQ(outcome.err.find(note), outcome.err.rfind(note));
  EXPECT_EQ(json::parse(outcome.out).at(0).at("status"), "done");
}

TEST(CalibratedSweep, IsPlannedAndNotDoneByADryRunAndNotWhereItIsNotWanted) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(calibrating_sweep({"--dry-run"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("calibrate lenet5 and what joins 2 ranks, to simulate nodes like this machine "
                                     "joined by hkbu-10gbe\n"));
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench-calibration"));
  expect_mistake(workplace.run(calibrating_sweep({"--no-calibrate"})), 2, "--calibrate", "--help");
  expect_mistake(workplace.run(calibrating_sweep({"--evidence", "measured"})), 2, "--calibrate measures this machine",
                 "--evidence");
  std::vector<std::string> without = calibrating_sweep({"--dry-run"});
  without[1] = "--no-calibrate";
  EXPECT_THAT(workplace.run(without).out, Not(HasSubstr("nodes like this machine")));
}

}  // namespace
}  // namespace hbench::calibrated_sweep_test
