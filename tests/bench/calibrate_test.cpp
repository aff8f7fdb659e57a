#include <signal.h>

#include "bench/launch/installation.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::calibrate_test {
namespace {

using nlohmann::json;

/// Flags of a quick calibration on CPU cores.
std::vector<std::string> calibrate(std::vector<std::string> more) {
  std::vector<std::string> arguments{"calibrate", "--device", "cpu", "--model", "lenet5", "--image-size",
                                     "32",        "--batch",  "4",   "--steps", "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Profile profile_in(const Workplace& workplace, const char* file) {
  return load_data().profiles.load((workplace / file).string());
}

TEST(CalibrateNetwork, WritesAClusterOfMachinesLikeThisThatCanBeSwept) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome =
      workplace.run(calibrate({"--network", "hkbu-10gbe", "--ranks", "2", "--executor", "threads"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 ranks: "));
  EXPECT_THAT(outcome.out, HasSubstr("sizes it has not seen"));
  EXPECT_THAT(outcome.out, HasSubstr("Wrote this-machine-hkbu-10gbe.toml: machines like this joined by hkbu-10gbe, 2 "
                                     "CPU cores per node, 10 Gbit/s"));

  const Profile profile = profile_in(workplace, "this-machine-hkbu-10gbe.toml");
  EXPECT_EQ(profile.gpus_per_node, 2);
  EXPECT_GT(profile.local_rate.value, 0);
  EXPECT_GT(profile.rates.at("lenet5").samples_per_second, 0);
  EXPECT_EQ(profile.rates.at("lenet5").batch, 4);
  for (const Figure& figure : profile.figures) {
    if (!figure.key.starts_with("local.")) continue;
    EXPECT_THAT(figure.source, AllOf(HasSubstr("measured by hbench calibrate " HBENCH_VERSION " on 20"),
                                     HasSubstr("1KiB to 16MiB by 2 ranks (threads)")));
  }

  const Outcome swept = workplace.run({"sweep", "--gpus", "1..8", "--workload", "./lenet5.toml", "--profile",
                                       "./this-machine-hkbu-10gbe.toml", "--algorithm", "ring", "--compressor", "none",
                                       "--evidence", "simulated", "--json", "--quiet"});
  ASSERT_EQ(swept.code, 0) << swept.err;
  const json points = json::parse(swept.out);
  ASSERT_EQ(points.size(), 4);
  for (const json& point : points) {
    EXPECT_EQ(point.at("profile"), "this-machine-hkbu-10gbe");
    EXPECT_EQ(point.at("batch_per_gpu"), 4);
    EXPECT_GT(point.at("efficiency"), 0);
  }
}

TEST(CalibrateNetwork, UsesMpiWhereNothingElseIsAskedForAndNamesTheFileAfterTheNetwork) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(calibrate({"--network", "hkbu-100gbib", "--ranks", "2"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Profile profile = profile_in(workplace, "this-machine-hkbu-100gbib.toml");
  EXPECT_THAT(profile.figures, Contains(testing::Field(&Figure::source, HasSubstr("by 2 ranks (mpi)"))));
}

TEST(CalibrateNetwork, OfOneRankKeepsWhatTheNetworkSaysOfItsNodes) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(calibrate({"--network", "hkbu-10gbe", "--ranks", "1"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 rank: nothing joins it here"));
  const Profile profile = profile_in(workplace, "this-machine-hkbu-10gbe.toml");
  EXPECT_EQ(profile.gpus_per_node, 1);
  EXPECT_EQ(profile.local_rate, load_data().profiles.load("hkbu-10gbe").local_rate);
}

TEST(CalibrateNetwork, SaysWhatTheMachineLacks) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
  const Workplace workplace;
  expect_mistake(workplace.run(calibrate({"--network", "hkbu-10gbe", "--ranks", "2", "--executor", "mpi"}),
                               {{"PATH", "/nowhere"}}),
                 3, "measuring what joins the ranks: ", "hbench doctor");
}

TEST(CalibrateNetwork, ThatLosesARankSaysSoAndWritesNothing) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
  const Workplace workplace;
  Sweeping calibrating(workplace, calibrate({"--network", "hkbu-10gbe", "--ranks", "2", "--executor", "mpi"}));
  const std::vector<pid_t> workers = calibrating.workers(2);
  ASSERT_EQ(workers.size(), 2u);
  kill(workers.back(), SIGKILL);
  const Outcome outcome = calibrating.wait();
  expect_mistake(outcome, 5, "measuring what joins the ranks: ", "hbench doctor");
  EXPECT_TRUE(all_die(workers));
  EXPECT_FALSE(std::filesystem::exists(workplace / "this-machine-hkbu-10gbe.toml"));
  EXPECT_FALSE(std::filesystem::exists(workplace / "lenet5.toml"));
}

TEST(Calibrate, RecordsAStepWithItsOptimizer) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  ASSERT_EQ(workplace.run(calibrate({"--optimizer", "adam"})).code, 0);
  const Trace trace = load_data().traces.load((workplace / "lenet5.toml").string());
  EXPECT_THAT(trace.source, HasSubstr(", adam"));
  EXPECT_EQ(trace.state_bytes, 16);
  EXPECT_GT(trace.timeline.update, Seconds(0));
  expect_mistake(workplace.run(calibrate({"--optimizer", "adan"})), 2, "no optimizer 'adan'; did you mean 'adam'?",
                 "sgd, momentum, nesterov, adam, adamw");
}

TEST(Calibrate, SaysThatItCannotWriteBeforeItRecords) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  // Long enough that a test which waits for the recording runs out of time.
  const Outcome outcome = workplace.run(
      {"calibrate", "--device", "cpu", "--model", "resnet50", "--steps", "100000", "--out", "missing/it.toml"});
  expect_mistake(outcome, 3, "cannot write missing/it.toml", "--out");
}

TEST(CalibrateNetwork, SaysWhatIsWrongBeforeItMeasures) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const auto refused = [&](std::vector<std::string> more, int code, const char* message, const char* hint) {
    expect_mistake(workplace.run(calibrate(std::move(more))), code, message, hint);
  };
  refused({"--network", "hkbu-10gb"}, 2, "no profile 'hkbu-10gb'; did you mean 'hkbu-10gbe'?", "known: hkbu-10gbe");
  refused({"--network", "./absent.toml"}, 2, "absent.toml", "");
  refused({"--network", "hkbu-10gbe", "--ranks", "0"}, 2, "--ranks", "--help");
  refused({"--network", "hkbu-10gbe", "--executor", "thread"}, 2, "did you mean 'threads'?", "known: threads");
  refused({"--network", "hkbu-10gbe", "--executor", "nccl", "--ranks", "2"}, 2, "does not work on --device cpu",
          "hbench list executors");
  refused({"--network", "hkbu-10gbe", "--out", "no/such/folder.toml"}, 3, "cannot write no/such/folder.toml",
          "--out FILE");
  refused({"--ranks", "2"}, 2, "--ranks is for the cluster profile, and no --network is given", "--network");
  refused({"--executor", "threads"}, 2, "--executor is for the cluster profile", "--network");
  for (const auto& entry : std::filesystem::directory_iterator(workplace.folder().path()))
    EXPECT_THAT(entry.path().filename().string(), AnyOf(".out", ".err"));
}

}  // namespace
}  // namespace hbench::calibrate_test
