// A cluster that is emulated by the program, on links of its own.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "bench/emulation/emulated_launch.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::emulation_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Two GPUs on each node; a step computes for 60 ms and sends 4 MB.
constexpr const char* kCluster = R"(title = "A cluster of tests"
gpu = "v100"
gpus_per_node = { value = 2, source = "made up" }
[local]
latency = { value = "20 us", source = "made up" }
rate = { value = "400 MB/s", source = "made up" }
[network]
latency = { value = "100 us", source = "made up" }
line_rate = { value = "1 Gbit/s", source = "made up" }
protocol_efficiency = { value = 0.95, source = "made up" }
[parameter_server]
rate = { value = "200 MB/s", source = "made up" }
[prediction]
uncertainty = { value = 0.1, source = "made up" }
)";

/// Who had the processors, where a launch was void for that: a test has then tested nothing. Else empty.
std::string others_in(const Outcome& outcome) {
  const std::string all = outcome.out + outcome.err;
  std::smatch taken;
  return std::regex_search(all, taken, std::regex("other processes took [0-9.]+ of [0-9]+ cores")) ? taken.str() : "";
}

class Emulation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability mpi = mpi_availability(); !mpi.available) GTEST_SKIP() << mpi.in_words();
    // MPI keeps memory of its own until the end.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    workload_ = fmt::format("step{}", getpid());
    std::ofstream(workplace_ / "lab.toml") << kCluster;
    std::ofstream(workplace_ / (workload_ + ".toml")) << R"(format = 1
title = "A step of tests"
source = "made up"
batch = 8
forward = "20000 us"
backward = "40000 us"
gradients = [
  ["c", 400000, 10000.0],
  ["b", 500000, 20000.0],
  ["a", 100000, 40000.0],
]
)";
    const Outcome tried = sweep({"--gpus", "2", "--dry-run"});
    if (tried.code == 3) GTEST_SKIP() << tried.err;
    ASSERT_EQ(tried.code, 0) << tried.err;
  }

  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"sweep",       "--workload", workload_ + ".toml",  "--profile",  "lab.toml",
                                 "--placement", "sliced",     "--servers",          "colocated",  "--compressor",
                                 "none",        "--evidence", "emulated,simulated", "--launches", "1",
                                 "--quiet"};
    if (std::ranges::find(more, "--algorithm") == more.end()) all.insert(all.end(), {"--algorithm", "ring,ps"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome sweep(const std::vector<std::string>& more,
                const std::map<std::string, std::string>& environment = {}) const {
    return workplace_.run(arguments(more), environment);
  }

  /// Processes whose command line names this test's workload: launchers and ranks.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != name.npos || std::stoi(name) == getpid()) continue;
      std::ifstream file(entry.path() / "cmdline");
      std::string words;
      std::getline(file, words, '\n');  // of a process that has ended meanwhile there is none
      if (words.find(workload_) != words.npos && lives(std::stoi(name))) found.push_back(std::stoi(name));
    }
    return found;
  }

  Workplace workplace_;
  std::string workload_;
};

std::vector<json> points_of(const json& all, std::string_view evidence) {
  std::vector<json> points;
  for (const json& point : all)
    if (point.at("evidence") == evidence) points.push_back(point);
  return points;
}

TEST_F(Emulation, OfRingsAndServersIsStoredBesideItsSimulation) {
  const Outcome outcome = sweep({"--gpus", "2,4"});
  if (!others_in(outcome).empty()) GTEST_SKIP() << others_in(outcome);
  ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("Simulated against emulated throughput"));
  EXPECT_THAT(outcome.out, HasSubstr("a rank is one replay of a GPU of the cluster"));
  const json all = exported(workplace_);
  const auto emulated = points_of(all, "emulated");
  ASSERT_EQ(emulated.size(), 4U);
  EXPECT_EQ(points_of(all, "simulated").size(), 4U);
  for (const json& point : emulated) {
    EXPECT_EQ(point.at("status"), "done");
    EXPECT_EQ(point.at("profile"), "lab");
    EXPECT_GT(point.at("efficiency").get<double>(), 0.02);
    // Computing takes 60 ms, and nothing makes that less.
    EXPECT_LE(point.at("efficiency").get<double>(), 1);
    EXPECT_THAT(point.at("baseline").get<std::string>(), HasSubstr("one GPU without communication"));
  }
  EXPECT_TRUE(processes().empty());
}

TEST_F(Emulation, IsResumedCaseByCase) {
  const Outcome first = sweep({"--gpus", "2"});
  if (!others_in(first).empty()) GTEST_SKIP() << others_in(first);
  ASSERT_EQ(first.code, 0);
  const Outcome outcome = sweep({"--gpus", "2", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(points_of(exported(workplace_), "emulated").size(), 2U);
  const Outcome runs =
      workplace_.shell("sqlite3 hbench.db \"SELECT count(*) FROM scaling_case WHERE evidence = 'emulated'\"");
  if (runs.code == 0) {
    EXPECT_EQ(runs.out, "2\n");
  }
}

TEST_F(Emulation, MarksWhatWasMeasuredWithAPlantedFault) {
  const Outcome outcome = sweep({"--gpus", "4", "--algorithm", "ring"}, {{"HBENCH_EMULATED_FAULT", "link:1:0.25"}});
  if (!others_in(outcome).empty()) GTEST_SKIP() << others_in(outcome);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("not a real figure: link:1:0.25 was"));
  EXPECT_EQ(sweep({"--gpus", "4"}, {{"HBENCH_EMULATED_FAULT", "cable:1:2"}}).code, 2);
}

TEST_F(Emulation, OfAFaultThatNoClusterHasIsRefused) {
  for (const char* fault : {"link:99:0.5", "node:4:2", "police:4:0.5", "server:99:3"})
    expect_mistake(sweep({"--gpus", "4", "--dry-run"}, {{"HBENCH_EMULATED_FAULT", fault}}), 2,
                   fmt::format("HBENCH_EMULATED_FAULT: {}: no emulated cluster has it", fault), "count from 0");
}

/// The efficiency of `algorithm` on four GPUs, with a fault; none, and `others` says why, where others had the
/// processors.
double efficiency_with(const Workplace& workplace, std::vector<std::string> arguments, const std::string& algorithm,
                       const std::string& fault, std::string& others) {
  const std::string database = algorithm + fault + ".db";
  arguments.insert(arguments.end(), {"--gpus", "4", "--db", database});
  const Outcome outcome = workplace.run(arguments, {{"HBENCH_EMULATED_FAULT", fault}});
  if (others = others_in(outcome); !others.empty()) return 0;
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  const Outcome all = workplace.run({"export", "--json", "--db", database});
  for (const json& point : points_of(json::parse(all.out), "emulated")) return point.at("efficiency");
  return 0;
}

// A step computes for 60 ms; what a fault costs it is far beyond what two runs differ by.
TEST_F(Emulation, ShowsFaultsThatNoSimulationKnowsOf) {
  std::map<std::string, double> efficiency;  // by algorithm and fault
  std::string others;
  for (const char* asked : {"ring", "ring link:1:0.5", "ring node:0:1.2", "ring police:0:0.6", "ps", "ps server:0:4"}) {
    const std::vector<std::string> words = words_in(asked);
    const std::string algorithm = words.front(), fault = words.size() > 1 ? words.back() : "";
    efficiency[asked] = efficiency_with(workplace_, arguments({"--algorithm", algorithm}), algorithm, fault, others);
    if (!others.empty()) GTEST_SKIP() << others;
  }
  const double ring = efficiency["ring"];
  EXPECT_GT(ring, 0.5);
  EXPECT_LT(efficiency["ring link:1:0.5"], 0.85 * ring) << "a link at half its rate";
  EXPECT_LT(efficiency["ring node:0:1.2"], 0.96 * ring) << "a node that computes a fifth longer";
  EXPECT_LT(efficiency["ring police:0:0.6"], 0.93 * ring) << "a cloud drops what exceeds its credit";
  EXPECT_LT(efficiency["ps server:0:4"], 0.9 * efficiency["ps"]) << "a server with a slow core";
}

TEST_F(Emulation, WorksWithoutRootInAUserNamespace) {
  if (geteuid() != 0) GTEST_SKIP() << "what root does is tested, and this is not root";
  if (workplace_.shell("setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user --net true")
          .code != 0)
    GTEST_SKIP() << "this kernel lets users make no namespaces";
  ASSERT_EQ(workplace_.shell("chmod -R a+rwX .").code, 0);
  std::string words;
  for (const std::string& word : arguments({"--gpus", "2", "--algorithm", "ring"})) words += " '" + word + "'";
  const Outcome outcome = workplace_.shell("setpriv --reuid 65534 --regid 65534 --clear-groups \"$HBENCH\"" + words);
  if (!others_in(outcome).empty()) GTEST_SKIP() << others_in(outcome);
  if (outcome.code == 126 || outcome.code == 127) GTEST_SKIP() << "another user cannot read what was built here";
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_EQ(points_of(exported(workplace_), "emulated").size(), 1U);
}

TEST_F(Emulation, WithoutItsProgramsSaysWhichIsMissing) {
  ASSERT_EQ(workplace_.shell("mkdir few && ln -s /bin/sh /usr/bin/env few/").code, 0);
  const Outcome outcome = sweep({"--gpus", "2", "--dry-run"}, {{"PATH", (workplace_ / "few").string()}});
  EXPECT_EQ(outcome.code, 0) << outcome.err << "the simulations can be done";
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex("left out  emulated runs: ip .*install it .Debian: iproute2"));
}

TEST_F(Emulation, RefusesLinksThatThisMachineCannotCarry) {
  std::string fast = kCluster;
  fast.replace(fast.find("1 Gbit/s"), 8, "900 Gbit/s");
  fast.replace(fast.find("400 MB/s"), 8, "200 GB/s");
  std::ofstream(workplace_ / "lab.toml") << fast;
  const Outcome outcome = sweep({"--gpus", "4", "--algorithm", "ring", "--dilation", "1"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  const auto emulated = points_of(exported(workplace_), "emulated");
  ASSERT_EQ(emulated.size(), 1U);
  EXPECT_EQ(emulated[0].at("status"), "failed");
  EXPECT_THAT(
      emulated[0].at("failure").get<std::string>(),
      ::testing::ContainsRegex("the emulated links carry .* of their rate, and a run takes 2 % at most; .*give a "
                               "larger --dilation"));
}

/// Runs beside other tests: it mostly waits, and nothing in it is timed.
class InterruptedEmulation : public Emulation {};

// Nothing has a name that outlives it: links and namespaces end with the processes that use them.
TEST_F(InterruptedEmulation, AtAnyMomentLeavesNothingBehind) {
  const auto links = [&] { return workplace_.shell("ip -o link show | cut -d: -f2; ip netns list").out; };
  const std::string before = links();
  for (int round = 0; round < 30; ++round) {
    Sweeping running(workplace_, arguments({"--gpus", "4", "--dilation", "20", "--db", fmt::format("{}.db", round)}));
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * round));
    const int signal = round % 3 == 0 ? SIGINT : round % 3 == 1 ? SIGTERM : SIGKILL;
    kill(running.pid(), signal);
    const Outcome outcome = running.wait();
    EXPECT_TRUE(outcome.code == 130 || outcome.code >= 128) << outcome.code << outcome.err;
    EXPECT_TRUE(all_die(processes())) << "after signal " << signal << " in round " << round;
  }
  EXPECT_EQ(links(), before);
}

TEST(CalibratedEmulation, ReplaysTheTimelineThatTheSweepRecordedOnThisMachine) {
  if (const Availability torch = torch_availability(); !torch.available) GTEST_SKIP() << torch.in_words();
  if (const Availability mpi = mpi_availability(); !mpi.available) GTEST_SKIP() << mpi.in_words();
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const Workplace workplace;
  const auto sweep = [&](const std::string& more) {
    return workplace.run(
        words_in("sweep --calibrate --device cpu --gpus 2 --workload lenet5 --image-size 32 --batch 64 --launches 2 "
                 "--steps 4 --profile hkbu-10gbe --algorithm ring --compressor none --oversubscribe 2 --evidence "
                 "measured,emulated --json " +
                 more));
  };
  const Outcome planned = sweep("--dry-run");
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("to emulate nodes like this machine joined by hkbu-10gbe; how long emulations"));
  EXPECT_THAT(planned.out, ::testing::Not(HasSubstr("no recorded timeline"))) << "it will be recorded";
  if (planned.out.find("left out  emulated runs") != std::string::npos) GTEST_SKIP() << planned.out;

  const Outcome outcome = sweep("--verbose");
  if (!others_in(outcome).empty()) GTEST_SKIP() << others_in(outcome);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("emulating 1 case of nodes like this machine: about "));
  const json points = json::parse(outcome.out);
  ASSERT_EQ(points_of(points, "emulated").size(), 1U);
  const json emulated = points_of(points, "emulated").front(), alone = points_of(points, "measured").front();
  EXPECT_EQ(emulated.at("profile"), "this-machine-hkbu-10gbe");
  EXPECT_EQ(emulated.at("image_size"), 32);
  EXPECT_EQ(emulated.at("machine"), alone.at("machine"));
  // What each rank replays is as fast as the process that was measured alone.
  const double ideal = emulated.at("throughput").get<double>() / emulated.at("efficiency").get<double>();
  EXPECT_NEAR(ideal / (2 * alone.at("throughput").get<double>()), 1, 0.01);
  EXPECT_EQ(json::parse(sweep("--resume").out), points) << "nothing is emulated again";
}

}  // namespace
}  // namespace hbench::emulation_test
