// Sweeps that measure frameworks: a real one where Python has it, and interpreters that fail in its place.

#include <fstream>

#include "bench/frameworks/framework_job.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::framework_sweep_test {
namespace {

using nlohmann::json;

class FrameworkSweep : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
    if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
  }

  Outcome sweep(std::vector<std::string> more, const std::map<std::string, std::string>& environment = {}) const {
    std::vector<std::string> arguments = words_in(
        "sweep --gpus 2 --workload resnet18 --batch 2 --evidence measured --image-size 32 --device cpu --algorithm "
        "ring --launches 1 --steps 1 --warmup 1 --trace 0 --no-calibrate");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace_.run(arguments, environment);
  }

  /// The same by an interpreter whose ranks say hello and then do as `then` says; $rank is the number of each.
  Outcome sweep_by(const std::string& then) const {
    write_program(workplace_ / "python", R"(#!/bin/sh
[ "$2" = --version ] && exec echo '{"version": "9.9"}'
rank=$OMPI_COMM_WORLD_RANK
says() { echo "{\"samples\":{\"rank\":$rank,\"case\":0,\"metric\":\"$1\",\"unit\":\"1\",\"warmup\":false,\"first\":0,\"values\":[$2]}}"; }
done_with() { echo "{\"done\":{\"rank\":$rank,\"digest\":\"$1\"}}"; }
echo $$ >> pids
echo "{\"hello\":{\"rank\":$rank,\"pid\":$$}}"
)" + then + "\n");
    return sweep({"--framework", "pytorch-ddp", "--timeout", "2s"},
                 {{"HBENCH_PYTHON", (workplace_ / "python").string()}});
  }

  /// The points of frameworks.
  std::vector<json> of_frameworks() const {
    std::vector<json> points;
    for (const json& point : exported(workplace_))
      if (point.at("framework").is_string()) points.push_back(point);
    return points;
  }

  void expect_failure(const Outcome& outcome, int code, const std::string& words) const {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("resnet18 pytorch-ddp 9.9 on 2 ranks"), HasSubstr(words)));
    const std::vector<json> points = of_frameworks();
    ASSERT_EQ(points.size(), 1);
    EXPECT_EQ(points[0].at("status"), "failed");
    EXPECT_THAT(points[0].at("failure").get<std::string>(), HasSubstr(words));
    for (const json& point : exported(workplace_))
      EXPECT_TRUE(point == points[0] || point.at("status") == "done") << "the rest goes on";
  }

  const Workplace workplace_;
};

TEST_F(FrameworkSweep, MeasuresDdpInTurnWithOwnCasesAndShowsItBesideThem) {
  if (const FoundFramework found = find_framework({frameworks().front()}); !found.state.available)
    GTEST_SKIP() << found.state.in_words();
  const Outcome outcome = sweep({"--framework", "pytorch-ddp,pytorch-ddp:bucket-view"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("pytorch-ddp "), HasSubstr("pytorch-ddp:bucket-view "), HasSubstr("ring")));
  const std::vector<json> points = of_frameworks();
  ASSERT_EQ(points.size(), 2);
  for (const json& point : points) {
    EXPECT_EQ(point.at("status"), "done");
    EXPECT_EQ(point.at("preset"), "ddp");
    EXPECT_GT(point.at("step_seconds"), 0);
    EXPECT_GT(point.at("efficiency"), 0) << "relative to hbench's own bare loop of its round";
  }
  EXPECT_THAT(bytes_of(workplace_ / "hbench-report/report.md"), HasSubstr("pytorch-ddp:bucket-view"));
  EXPECT_THAT(sweep({"--framework", "pytorch-ddp", "--resume"}).err, HasSubstr("3 of 3 cases"));
}

TEST_F(FrameworkSweep, ShowsHowFarThePresetIsOffWhereItCalibrates) {
  if (const FoundFramework found = find_framework({frameworks().front()}); !found.state.available)
    GTEST_SKIP() << found.state.in_words();
  std::vector<std::string> arguments = words_in(
      "sweep --gpus 2 --workload resnet18 --batch 2 --device cpu --evidence measured,simulated --launches 1 --steps 1 "
      "--warmup 1 --trace 0 --algorithm ring --fusion ddp --profile hkbu-10gbe --calibrate --framework pytorch-ddp");
  const Outcome outcome = workplace_.run(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::size_t presets = 0;
  for (const json& point : exported(workplace_))
    presets += point.at("evidence") == "simulated" && point.at("preset") == "ddp" && point.at("gpus") == 2;
  EXPECT_GT(presets, 0);
  const std::string report = bytes_of(workplace_ / "hbench-report/report.md");
  const std::size_t compared = report.find("How far from what was measured here");
  ASSERT_NE(compared, std::string::npos);
  EXPECT_THAT(report.substr(compared), ContainsRegex("[|] 2 [|] pytorch-ddp [^|]+[|] [0-9]"));
}

TEST_F(FrameworkSweep, DoesNotTimeAFrameworkThatTrainsAnotherModel) {
  expect_failure(sweep_by("says parameters 12; says loss 7; done_with a"), 4, "another model: 12 parameters");
}

TEST_F(FrameworkSweep, DoesNotTimeAFrameworkWhoseRanksEndApart) {
  expect_failure(sweep_by("says parameters 11689512; says loss 7; done_with a$rank"), 4, "different parameters");
}

TEST_F(FrameworkSweep, DoesNotTimeAFrameworkThatDiverges) {
  expect_failure(sweep_by("says parameters 11689512; says loss null; done_with a"), 4, "diverged");
}

TEST_F(FrameworkSweep, NamesAFrameworkThatHangsAndLeavesNothingBehind) {
  expect_failure(sweep_by("exec sleep 1000"), 5, "no rank reported for 14 s");
  std::ifstream file(workplace_ / "pids");
  std::vector<pid_t> pids;
  for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  EXPECT_EQ(pids.size(), 2);
  EXPECT_TRUE(all_die(pids));
}

TEST_F(FrameworkSweep, QuotesARankThatGivesUp) {
  expect_failure(
      sweep_by(
          R"(echo "{\"failure\":{\"rank\":$rank,\"exit_code\":5,\"message\":\"RuntimeError: no route\"}}"; exit 5)"),
      5, "RuntimeError: no route");
}

TEST_F(FrameworkSweep, LeavesOutAFrameworkThatIsHalfInstalled) {
  write_program(workplace_ / "python",
                "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torchvision'\" >&2\nexit 1");
  const Outcome outcome = sweep({"--framework", "pytorch-ddp"}, {{"HBENCH_PYTHON", (workplace_ / "python").string()}});
  EXPECT_EQ(outcome.code, 0) << "the rest goes on";
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("left out: pytorch-ddp, measured"), HasSubstr("'torchvision'"),
                                 HasSubstr("apt-get install python3-torch python3-torchvision")));
  EXPECT_THAT(of_frameworks(), IsEmpty());
}

TEST_F(FrameworkSweep, FailsWhereThePortOfItsRanksIsNone) {
  const Outcome outcome = sweep({"--framework", "pytorch-ddp"}, {{"MASTER_PORT", "no-port"}});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("MASTER_PORT=no-port"));
}

TEST(MeasuredComparison, NamesTheSideOfWhichNothingIsInstalledWithTheLineThatInstallsIt) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome =
      workplace.run({"compare", "horovod-tensorflow", "--measured"}, {{"HBENCH_PYTHON", "/nowhere/python3"}});
  expect_mistake(outcome, 3, "Horovod cannot be measured", "pip install --no-cache-dir --no-build-isolation horovod");
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench.db"));
}

TEST(FrameworkFlag, WithoutMeasuredEvidenceNamesThePreset) {
  const Workplace workplace;
  expect_mistake(workplace.run({"sweep", "--gpus", "8", "--framework", "pytorch-ddp", "--evidence", "simulated"}), 2,
                 "--framework pytorch-ddp is measured", "--preset ddp");
  expect_mistake(workplace.run({"sweep", "--framework", "pytorch-dp"}), 2, "'pytorch-dp'", "pytorch-ddp");
}

}  // namespace
}  // namespace hbench::framework_sweep_test
