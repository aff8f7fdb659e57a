#include "analysis/prediction/case_strategy.hpp"

#include "collectives/base/table.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::strategy_test {
namespace {

using testing::_;

Case stored(Strategy strategy, TrainingTask task = {}) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.gpus = 8;
  asked.strategy = std::move(strategy);
  asked.training = std::move(task);
  return asked;
}

const Strategy kServers{.algorithm = "ps",
                        .placement = "sliced",
                        .servers = 3,
                        .server_mode = "colocated",
                        .compressor = "topk:0.01",
                        .fusion = "threshold:25MiB",
                        .overlap = false};

TEST(ATrainingStrategy, IsWrittenAsItWasStored) {
  for (const Case& asked : {stored(kServers, {.device = "gpu", .executor = "cuda", .precision = "bf16"}),
                            stored({.algorithm = "ring", .compressor = "none", .fusion = "horovod:64MiB:5ms"}),
                            stored({.algorithm = "none", .overlap = false}, {.device = "gpu", .precision = "tf32"})}) {
    const Case written = planned({.evidence = asked.evidence}, planned(asked).strategy);
    EXPECT_EQ(written.strategy, asked.strategy) << asked.strategy.label();
    EXPECT_EQ(written.training, asked.training) << asked.strategy.label();
  }
}

TEST(ATrainingStrategy, PointsIntoTheTables) {
  const TrainingStrategy strategy = planned(stored(kServers, {.device = "gpu", .precision = "fp16"})).strategy;
  EXPECT_TRUE(strategy.algorithm.uses_servers());
  EXPECT_EQ(strategy.placement, &find_entry(placements(), "sliced", "placement"));
  EXPECT_EQ(strategy.executor, &find_entry(executors(), "mpi", "executor")) << "where it does not say so";
  EXPECT_TRUE(strategy.colocated());
  EXPECT_TRUE(strategy.on_gpu);
  EXPECT_EQ(strategy.precision, Precision::fp16);
  EXPECT_EQ(strategy.world(8, 4), (World{8, 3, true, 4}));
  EXPECT_FALSE(no_communication(false, Precision::float32).communicates());
  EXPECT_EQ(no_communication(false, Precision::float32).world(1, 1), World());
}

TEST(ATrainingStrategy, IsOfProcessesWhereALauncherStartsThemOrOnSeveralNodes) {
  const auto processes = [](const char* executor, int nodes) {
    Case asked = stored({.algorithm = "ring", .compressor = "none", .fusion = "none"}, {.executor = executor});
    asked.nodes = nodes;
    return ranks_are_processes(asked, planned(asked).strategy);
  };
  EXPECT_TRUE(processes("mpi", 1));
  EXPECT_FALSE(processes("threads", 1));
  EXPECT_TRUE(processes("threads", 2));
  const TrainingStrategy alone = no_communication(false, Precision::float32);
  EXPECT_FALSE(ranks_are_processes(stored({.algorithm = "none", .overlap = false}), alone));
  EXPECT_FALSE(alone.overlap) << "as it is stored";
}

TEST(ATrainingStrategy, OfASimulatedCaseHasNoExecutor) {
  Case simulated = stored(kServers);
  simulated.evidence = Evidence::simulated;
  EXPECT_EQ(planned(simulated).strategy.executor, nullptr);
}

TEST(ATrainingStrategy, OfANameThatThisVersionDoesNotKnowIsAUsageErrorWhenItIsNeeded) {
  const std::vector<std::pair<const char*, Case>> unknown{
      {"algorithm", stored({.algorithm = "rings", .compressor = "none", .fusion = "none"})},
      {"compressor", stored({.algorithm = "ring", .compressor = "fp61", .fusion = "none"})},
      {"fusion", stored({.algorithm = "ring", .compressor = "none", .fusion = "horovox"})},
      {"device", stored({.algorithm = "none"}, {.device = "tpu"})},
      {"precision", stored({.algorithm = "none"}, {.precision = "bf61"})},
      {"executor", stored({.algorithm = "ring", .compressor = "none", .fusion = "none"}, {.executor = "ncl"})}};
  for (const auto& [what, asked] : unknown) {
    expect_error([&] { planned(asked); }, ExitCode::usage, HasSubstr(what), _);
    EXPECT_NE(asked.strategy_label(), "") << "reports show it all the same";
  }
  for (auto change : {+[](Strategy& s) { s.placement = "slice"; }, +[](Strategy& s) { s.server_mode = "elsewhere"; }}) {
    Strategy strategy = kServers;
    change(strategy);
    expect_error([&] { planned(stored(strategy)); }, ExitCode::usage, HasSubstr("no "), _);
    EXPECT_THAT(strategy.label(), HasSubstr(strategy.placement));
  }
}

}  // namespace
}  // namespace hbench::strategy_test
