#include <gmock/gmock.h>

#include "bench/sweep/measured_place.hpp"
#include "tests/bench/program.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

using nlohmann::json;

/// One is the best; whatever is called slower is so by the test and by the least effect, and only then is it replaced.
void expect_consistent(const json& tuning) {
  std::size_t best = 0;
  for (const json& setting : tuning.at("settings")) {
    const std::string verdict = setting.at("verdict");
    best += verdict == "best" ? 1 : 0;
    EXPECT_GT(setting.at("step_seconds"), 0);
    EXPECT_GE(setting.at("step_seconds_high"), setting.at("step_seconds_low"));
    if (verdict == "slower" && !setting.at("p").is_null()) {
      EXPECT_LT(setting.at("p"), 0.05);
      EXPECT_GE(setting.at("slower_by"), 0.03);
    }
    if (verdict == "noise" && setting.at("fusion") == tuning.at("reference")) {
      EXPECT_EQ(tuning.at("recommended"), tuning.at("reference"));
    }
  }
  EXPECT_EQ(best, 1U);
  EXPECT_EQ(tuning.at("flag"), "--fusion " + tuning.at("recommended").get<std::string>());
}

/// The shortest race there is: one small setting against itself.
Outcome race(const Workplace& workplace, const std::string& budget) {
  return workplace.run({"tune", "--workload", "lenet5", "--ranks", "2", "--fusion", "threshold:1MiB,threshold:1MiB",
                        "--steps", "2", "--batch", "4", "--budget", budget, "--json", "--quiet", "--label",
                        "branch=main"});
}

/// `give --budget 13s or more`: 13s.
std::string advised_budget(const std::string& words) {
  const std::string before = "give --budget ";
  const std::size_t begin = words.find(before) + before.size();
  return words.substr(begin, words.find(' ', begin) - begin);
}

TEST(Tune, SimulatesSettingsAndSaysWhichIsBest) {
  const Workplace workplace;
  const Outcome outcome = workplace.run({"tune", "--workload", "vgg16", "--profile", "aws-p3-25gbe", "--gpus", "16",
                                         "--fusion", "horovod,ddp", "--json", "--quiet"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json tuning = json::parse(outcome.out);
  expect_consistent(tuning);
  EXPECT_EQ(tuning.at("evidence"), "simulated");
  EXPECT_EQ(tuning.at("profile"), "aws-p3-25gbe");
  EXPECT_GT(tuning.at("settings").size(), 4);
}

// That equal settings are called equal is shown by `Race` with a thousand tunings: one has its luck.
TEST(Tune, RacesASettingAgainstItselfByLaunchesOfItsOwn) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  Outcome outcome = race(workplace, "1s");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::HasSubstr("2 settings need 11 of them: 1s is too short"));
  // As long as it says that it needs, which changes with the load of the machine.
  for (int tries = 0; outcome.code == 2 && tries < 20; ++tries) outcome = race(workplace, advised_budget(outcome.err));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json tuning = json::parse(outcome.out);
  expect_consistent(tuning);
  EXPECT_EQ(tuning.at("evidence"), "measured");
  EXPECT_EQ(tuning.at("recommended"), "threshold:1MiB");
  ASSERT_EQ(tuning.at("settings").size(), 2);
  for (const json& setting : tuning.at("settings")) EXPECT_GE(setting.at("launches"), 5);
  // The launches are there to be looked at, with what the machine did meanwhile: of each setting a case, of which the
  // newest is shown.
  const json points = exported(workplace);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].at("evidence"), "measured");
  EXPECT_EQ(points[0].at("fusion"), "threshold:1MiB");
  EXPECT_EQ(points[0].at("image_size"), step_defaults(false).image_size) << "as a sweep's";
  EXPECT_GE(points[0].at("samples"), 5 * 2 * 2) << "launches, ranks and steps";
  EXPECT_THAT(points[0].at("machine_in_words"), testing::HasSubstr("core")) << "comparable with what was timed here";
  EXPECT_TRUE(points[0].at("efficiency").is_null()) << "no process alone was launched beside it";
  EXPECT_THAT(points[0].at("no_baseline"), testing::HasSubstr("no process without communication was timed"));
  EXPECT_EQ(json::parse(workplace.run({"export", "--json", "--label", "branch=main"}).out), points);
}

}  // namespace
}  // namespace hbench
