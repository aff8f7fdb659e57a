// Steps of frameworks that a sweep has stored become rows of the profile of their machine.

#include <gmock/gmock.h>

#include "analysis/fit/machine_profile.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/store/store.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::framework_rows_test {
namespace {

/// One process without communication, or a framework on some ranks, as a sweep stores them.
CaseResult stored(const std::string& workload, int gpus, double seconds) {
  CaseResult result;
  result.asked = {.evidence = Evidence::measured, .workload = workload, .gpus = gpus, .nodes = 1};
  result.asked.strategy = {.algorithm = "none"};
  if (gpus > 1)
    result.asked.strategy = {.algorithm = "ring",
                             .compressor = "none",
                             .fusion = "ddp",
                             .preset = "ddp",
                             .framework = "pytorch-ddp",
                             .framework_version = "2.15"};
  result.asked.profile = kLocalProfile;
  result.asked.batch_per_gpu = 8;
  result.asked.image_size = 64;
  result.asked.machine = "here";
  for (int iteration = 0; iteration < 5; ++iteration)
    result.samples.push_back({.iteration = iteration, .metric = "step_seconds", .value = seconds, .unit = "s"});
  return result;
}

/// A folder as a sweep that calibrates leaves it, whose links are half as slow as the frameworks find them.
class FrameworkRowsOfADatabase : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(recorded_);
    const Data data = load_data();
    MachineFigures machine{.ranks = 4, .gpu = "a core", .what = "CPU cores", .how = "a test", .how_linked = "a test"};
    machine.link = {.latency = Seconds(5e-6), .rate = BytesPerSecond(1e9), .unseen = 8, .mean_error = 0.05};
    for (const char* model : {"resnet50", "vgg16"}) {
      machine.rates[model] = {20, 8, "a test"};
      write_bytes(recorded_ / (std::string(model) + ".toml"), format_trace(data.traces.load(model)));
    }
    write_bytes(profile_, format_machine_profile(data.profiles.load("hkbu-10gbe"), machine));
    Profile truth = data.profiles.load(profile_.string());
    truth.local_rate = truth.local_rate * 0.5;
    Catalog catalog;
    catalog.profiles.emplace(truth.name, truth);
    std::vector<CaseResult> results;
    for (const char* model : {"resnet50", "vgg16"}) {
      catalog.traces.emplace(model, data.traces.load(model));
      results.push_back(stored(model, 1, 8 / 20.0));
      for (const int gpus : {2, 3, 4}) {
        CaseResult result = stored(model, gpus, 1);
        Case asked = result.asked;
        asked.evidence = Evidence::simulated;
        asked.profile = truth.name;
        asked.single_gpu_rate = 20;
        results.push_back(stored(model, gpus, SimulatedRunner(catalog).step(planned(asked)).step().value));
      }
    }
    results.push_back(stored("resnet50", 2, 9));
    results.back().asked.machine = "elsewhere";
    Store store(database_);
    store.append(store.begin_run({.command = "hbench sweep", .version = "1", .started_at = "2026-01-01T00:00:00Z"}),
                 results);
  }

  std::string calibrate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--quiet", "--from", database_.string(), "--out", out_.string()});
    return printed_by("calibrate", std::move(arguments));
  }

  TemporaryFolder folder_;
  std::filesystem::path database_ = folder_ / "my.db", out_ = folder_ / "mine.toml",
                        recorded_ = folder_ / "my-calibration" / "cpu",
                        profile_ = recorded_ / "this-machine-hkbu-10gbe.toml";
};

TEST_F(FrameworkRowsOfADatabase, FitTheProfileThatLiesBesideIt) {
  const std::string text = calibrate({});
  EXPECT_THAT(text,
              AllOf(HasSubstr("fitted without steps of its workload"), HasSubstr("local.rate"),
                    HasSubstr("1 row of other machines, of one rank, with servers or without a baseline is not")));
  const Profile fitted = load_data().profiles.load(out_.string());
  EXPECT_NEAR(fitted.local_rate.value / 0.5e9, 1, 0.1);
  EXPECT_THAT(read_file(out_), HasSubstr("fitted to 6 measured steps"));
}

TEST_F(FrameworkRowsOfADatabase, AreOfTheMachineThatMeasuredLastAndRelativeToOneProcess) {
  const Store store(database_, Store::Mode::read_only);
  const FrameworkRows found = framework_rows(store.results(), store.baselines(), "mine");
  ASSERT_EQ(found.rows.size(), 6U);
  EXPECT_EQ(found.others, 1U);
  for (const CaseResult& row : found.rows) {
    EXPECT_EQ(row.asked.profile, "mine");
    EXPECT_NEAR(value_of(row, "baseline_throughput").value(), 20, 1e-6);
    EXPECT_LT(value_of(row, "throughput").value(), 20 * row.asked.gpus);
  }
}

TEST_F(FrameworkRowsOfADatabase, SayWhatIsMissing) {
  const auto refused = [&](const std::string& what, const std::string& hint) {
    expect_error([&] { calibrate({}); }, ExitCode::usage, HasSubstr(what), HasSubstr(hint));
  };
  std::filesystem::copy(profile_, recorded_ / "this-machine-lab.toml");
  refused("there are 2 profiles beside", "name one: --profile /");
  std::filesystem::remove(recorded_ / "this-machine-lab.toml");
  std::filesystem::remove(profile_);
  refused("there is no profile of the machine beside", "add --calibrate to the sweep");
}

TEST_F(FrameworkRowsOfADatabase, NeedTimelinesAndFrameworks) {
  std::filesystem::remove(recorded_ / "vgg16.toml");
  EXPECT_THAT(calibrate({}), HasSubstr("Wrote")) << "hbench has a timeline of that name";
  std::filesystem::remove(database_);
  {
    Store store(database_);
    CaseResult row = stored("lenet5", 2, 1), alone = stored("lenet5", 1, 1);
    store.append(store.begin_run({.command = "hbench sweep", .version = "1", .started_at = "2026-01-01T00:00:00Z"}),
                 {alone, row});
  }
  const auto refused = [&](const std::string& what, const std::string& hint) {
    expect_error([&] { calibrate({}); }, ExitCode::usage, HasSubstr(what), HasSubstr(hint));
  };
  refused("lenet5.toml is missing: the timeline of lenet5", "hbench calibrate --model lenet5 --out");
  std::filesystem::remove(database_);
  { const Store store(database_); }
  refused("has no measured steps of frameworks", "--framework pytorch-ddp");
}

}  // namespace
}  // namespace hbench::framework_rows_test
