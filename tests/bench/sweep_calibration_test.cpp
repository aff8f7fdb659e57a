#include "bench/calibrate/sweep_calibration.hpp"

#include <map>

#include "bench/launch/installation.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/step/trace.hpp"

namespace hbench::sweep_calibration_test {
namespace {

SweepRequest both(std::vector<int> gpus) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured, Evidence::simulated};
  request.gpus = std::move(gpus);
  return request;
}

std::optional<CalibrationPlan> planned(const SweepRequest& request, const LocalMachine& machine,
                                       CalibrationChoice choice = CalibrationChoice::where_it_helps) {
  return plan_calibration(request, machine, plan_of(request, machine), choice);
}

TEST(SweepCalibration, IsDoneOnGpusWhenMoreAreAskedForThanThereAre) {
  const auto calibration = planned(both({1, 8}), machine_of_four_gpus());
  ASSERT_TRUE(calibration.has_value());
  EXPECT_EQ(calibration->ranks(), 4);
  EXPECT_THAT(calibration->networks, ElementsAre("hkbu-10gbe"));
  ASSERT_EQ(calibration->baselines.size(), 1u);
  EXPECT_EQ(calibration->baselines.front().training.device, "gpu");
  EXPECT_EQ(calibration->in_words(),
            "resnet50 and what joins 4 ranks, to simulate nodes like this machine joined by hkbu-10gbe");
  EXPECT_GT(calibration->seconds(), 0);

  EXPECT_FALSE(planned(both({1, 4}), machine_of_four_gpus()).has_value()) << "all are measured";
  EXPECT_FALSE(planned(both({1, 8}), machine_of_two()).has_value()) << "CPU cores, and nobody asked";
}

TEST(SweepCalibration, IsDoneWhereItIsAskedForAndNotWhereItIsNotWanted) {
  EXPECT_EQ(planned(both({1, 8}), machine_of_two(), CalibrationChoice::always)->ranks(), 2);
  EXPECT_TRUE(planned(both({1, 4}), machine_of_four_gpus(), CalibrationChoice::always).has_value());
  EXPECT_FALSE(planned(both({1, 8}), machine_of_four_gpus(), CalibrationChoice::never).has_value());
}

TEST(SweepCalibration, TakesTimeForEachTimelineAndForLinksWhereThereAreAny) {
  LocalMachine one_core = machine_of_two();
  one_core.cores = one_core.ranks = 1;
  one_core.limits.models.push_back("vgg16");
  const auto seconds = [](const LocalMachine& machine, std::vector<std::string> workloads) {
    SweepRequest request = both({1, 8});
    request.workloads = std::move(workloads);
    return planned(request, machine, CalibrationChoice::always)->seconds();
  };
  EXPECT_EQ(seconds(one_core, {"resnet50", "vgg16"}), 2 * seconds(one_core, {"resnet50"}));
  EXPECT_GT(seconds(machine_of_two(), {"resnet50"}), seconds(one_core, {"resnet50"}));
}

TEST(SweepCalibration, TakesNetworksOfSeveralSpeedsWhereNobodyNamesOne) {
  SweepRequest request = both({1, 8});
  request.profiles.clear();
  const auto calibration = planned(request, machine_of_four_gpus());
  ASSERT_TRUE(calibration.has_value());
  EXPECT_GT(calibration->networks.size(), 1u);
  const Data data = load_data();
  for (const std::string& name : calibration->networks) EXPECT_THAT(data.profiles.names(), Contains(name)) << name;
}

TEST(SweepCalibration, NeedsASweepThatMeasuresAndPredicts) {
  for (const Evidence evidence : {Evidence::measured, Evidence::emulated, Evidence::simulated}) {
    SweepRequest request = both({1, 8});
    request.evidence = {evidence};
    EXPECT_FALSE(planned(request, machine_of_four_gpus()).has_value());
    expect_error([&] { planned(request, machine_of_four_gpus(), CalibrationChoice::always); }, ExitCode::usage,
                 "--calibrate measures this machine and predicts more of it, and --evidence does not",
                 "leave out --evidence, or give it measured and one of simulated and emulated");
  }
}

TEST(SweepCalibration, KeepsWhatDiffersApart) {
  SweepRequest request = both({1, 8});
  EXPECT_EQ(planned(request, machine_of_four_gpus())->folder("some/my.db"),
            "some/my-calibration/gpu-tf32-batch64-224px-4ranks");
  request.batch = 8;
  request.image_size = 32;
  request.executor = "threads";
  EXPECT_EQ(planned(request, machine_of_two(), CalibrationChoice::always)->folder("hbench.db"),
            "hbench-calibration/cpu-float32-batch8-32px-2ranks-threads");
}

/// The files that a calibration of `resnet50` leaves, with a rate of 1000 samples/s at the batch.
void leave_files(const CalibrationPlan& calibration, const std::filesystem::path& folder) {
  const Data data = load_data();
  write_bytes(folder / "resnet50.toml", format_trace(data.traces.load("resnet50")));
  MachineFigures machine;
  machine.ranks = calibration.ranks();
  machine.what = "GPUs";
  machine.gpu = "a GPU";
  machine.how = machine.how_linked = "a test";
  machine.link = {.latency = Seconds(5e-6), .rate = BytesPerSecond(50e9), .unseen = 8, .mean_error = 0.05};
  machine.rates["resnet50"] = {1000, calibration.baselines.front().batch_per_gpu, "a test"};
  for (const std::string& name : calibration.networks)
    write_bytes(folder / ("this-machine-" + name + ".toml"), format_machine_profile(data.profiles.load(name), machine));
}

TEST(CalibratedPlan, SimulatesEveryCountOnNodesLikeThisMachineAsItWasMeasured) {
  SweepRequest request = both({1, 4, 8});
  request.profiles = {"hkbu-10gbe", "azure-nd96asr-v4"};
  request.single_gpu_rate = 77;  // of other clusters' GPUs
  const auto calibration = planned(request, machine_of_four_gpus());
  ASSERT_TRUE(calibration.has_value());
  const TemporaryFolder folder;
  leave_files(*calibration, folder.path());
  const Plan plan = calibrated_plan(*calibration, request, load_data(), machine_of_four_gpus(), folder.path());
  ASSERT_EQ(plan.cases.size(), 2 * 3u);  // networks x counts, one strategy
  const Case& measured = calibration->baselines.front();
  for (const Case& asked : plan.cases) {
    EXPECT_EQ(asked.evidence, Evidence::simulated);
    EXPECT_EQ(asked.workload, "resnet50");
    EXPECT_THAT(asked.profile, StartsWith("this-machine-"));
    EXPECT_EQ(asked.batch_per_gpu, measured.batch_per_gpu);
    EXPECT_EQ(asked.image_size, measured.image_size);
    EXPECT_EQ(asked.training, measured.training);
    EXPECT_EQ(asked.single_gpu_rate, 0);
  }
  EXPECT_EQ(plan.catalog.profiles.at("this-machine-hkbu-10gbe").title,
            "machines like this joined by hkbu-10gbe, 4 GPUs per node, 10 Gbit/s");
}

TEST(CalibratedPlan, HasEmulatedCasesWhereTheyAreAskedForOfTheMachineThatWasMeasured) {
  for (const bool simulates : {true, false}) {
    SweepRequest request = both({1, 2, 8});
    if (!simulates) request.evidence.erase(Evidence::simulated);
    request.evidence.insert(Evidence::emulated);
    auto calibration = planned(request, machine_of_two(), CalibrationChoice::always);
    ASSERT_TRUE(calibration.has_value());
    EXPECT_THAT(calibration->in_words(), HasSubstr(simulates ? "to simulate and emulate nodes" : "to emulate nodes"));
    calibration->baselines.front().machine = "this machine's";
    const TemporaryFolder folder;
    leave_files(*calibration, folder.path());
    const Plan plan = calibrated_plan(*calibration, request, load_data(), machine_of_two(), folder.path());
    std::map<Evidence, std::vector<int>> gpus;
    for (const Case& asked : plan.cases) {
      gpus[asked.evidence].push_back(asked.gpus);
      EXPECT_EQ(asked.profile, "this-machine-hkbu-10gbe");
      EXPECT_EQ(asked.machine, asked.evidence == Evidence::emulated ? "this machine's" : "");
      EXPECT_EQ(asked.image_size, calibration->baselines.front().image_size);
    }
    EXPECT_THAT(gpus[Evidence::emulated], ElementsAre(2, 8)) << "one rank exchanges nothing";
    EXPECT_EQ(gpus[Evidence::simulated].size(), simulates ? 3U : 0U);
  }
}

TEST(CalibratedPlan, LeavesOutEmulationsWhereThisMachineCannotEmulate) {
  SweepRequest request = both({2});
  request.evidence.insert(Evidence::emulated);
  LocalMachine machine = machine_of_two();
  machine.limits.no_emulation = "no namespaces";
  const auto calibration = planned(request, machine, CalibrationChoice::always);
  const TemporaryFolder folder;
  leave_files(*calibration, folder.path());
  const Plan plan = calibrated_plan(*calibration, request, load_data(), machine, folder.path());
  ASSERT_EQ(plan.cases.size(), 1U);
  EXPECT_EQ(plan.cases.front().asked.evidence, Evidence::simulated);
  EXPECT_EQ(plan.refused.front().why, "no namespaces");
}

TEST(CalibratedPlan, IsAnErrorWhereTheCalibrationIsNotThere) {
  const SweepRequest request = both({1, 8});
  const TemporaryFolder folder;
  const auto calibration = planned(request, machine_of_four_gpus());
  expect_error([&] { calibrated_plan(*calibration, request, load_data(), machine_of_four_gpus(), folder.path()); },
               ExitCode::usage, HasSubstr("toml"), testing::_);
}

}  // namespace
}  // namespace hbench::sweep_calibration_test
