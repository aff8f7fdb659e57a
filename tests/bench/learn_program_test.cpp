// hbench learn: real trainings of the built-in data, and mistakes.

#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::learn_program_test {
namespace {

using nlohmann::json;

TEST(Learn, TrainsToAnAccuracyByEachStrategyInTurn) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome =
      workplace.run(words_in("learn --until accuracy=0.3 --epochs 6 --launches 2 --compressor none,topk:0.01 --method "
                             "synchronous,local-sgd:4 --out answer.json --quiet"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(bytes_of(workplace / "answer.json"));
  EXPECT_EQ(answer.at("wanted_accuracy"), 0.3);
  ASSERT_EQ(answer.at("cases").size(), 4) << "a rank alone, ring, ring with a compressor, and local SGD";
  for (const json& each : answer.at("cases")) {
    EXPECT_EQ(each.at("launches"), 2);
    EXPECT_EQ(each.at("data"), "mnist1d");
    EXPECT_EQ(each.at("epochs").size(), 6);
    EXPECT_GT(each.at("accuracy").at("mean"), 0.15) << each.at("strategy") << ": chance is a tenth";
    EXPECT_GT(each.at("samples_per_second"), 0);
  }
}

TEST(Learn, BeginsEachLaunchWithOtherParametersAndAllStrategiesWithTheSame) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  ASSERT_EQ(workplace
                .run(words_in("learn --epochs 1 --launches 2 --workload linear1d --compressor none,topk:1 --quiet "
                              "--executor threads"))
                .code,
            0);
  // How many losses there are in the end: of the launches of one strategy two, of both strategies no more.
  const auto expect_losses = [&](const std::string& where) {
    EXPECT_NO_THROW(run_sql(workplace / "hbench.db",
                            "DROP TABLE IF EXISTS losses; CREATE TABLE losses (found CHECK (found = 2)); INSERT INTO "
                            "losses SELECT count(DISTINCT round(value, 5)) FROM sample JOIN scaling_case ON case_id = "
                            "scaling_case.id WHERE metric = 'learned/loss' AND iteration = 2 AND gpus = 2" +
                                where));
  };
  expect_losses(" AND compressor = 'none'");
  expect_losses("");
}

TEST(Learn, InterruptedBeforeALaunchHasEndedSaysThat) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.shell(
      "$HBENCH learn --epochs 1000 --launches 1 --gpus 2 --quiet & while [ ! -s hbench.db ]; do sleep 0.1; done; "
      "sleep 1; kill -TERM $!; wait $!");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("hbench: interrupted"));
}

TEST(Learn, SaysWhatItWouldTrain) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(words_in("learn --dry-run --compressor none,fp16"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("ring + fp16, momentum, mnist1d for 40 epochs"), HasSubstr("3 cases")));
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench.db"));
}

TEST(Learn, RefusesWhatMakesNoSense) {
  struct {
    const char *arguments, *message;
  } const rows[] = {
      {"learn --until accuracy=1.5", "--until accuracy=1.5 is no accuracy between 0 and 1"},
      {"learn --data mnist2d", "did you mean 'mnist1d'"},
      {"learn --epochs 0", "--epochs"},
      {"learn --profile hkbu-10gbe,aws-p5", "--profile hkbu-10gbe,aws-p5: one other network at a time"},
      {"sweep --epochs 3 --evidence measured", "--epochs and --learning-rate are of data, and there are none"},
  };
  const Workplace workplace;
  for (const auto& row : rows) {
    const Outcome outcome = workplace.run(words_in(row.arguments));
    EXPECT_EQ(outcome.code, 2) << row.arguments;
    EXPECT_THAT(outcome.err, HasSubstr(row.message)) << row.arguments;
  }
}

}  // namespace
}  // namespace hbench::learn_program_test
