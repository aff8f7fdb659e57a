#include "workloads/step/strategy.hpp"

#include <fmt/format.h>

#include "collectives/base/table.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::strategy_test {
namespace {

std::string refusal(const char* algorithm, const char* compressor, const char* fusion, World world = {.workers = 2},
                    Precision precision = Precision::float32) {
  TrainingStrategy strategy;
  strategy.algorithm = parse_algorithm_rule(algorithm);
  strategy.compressor = parse_compressor(compressor);
  strategy.fusion = parse_fusion(fusion);
  strategy.precision = precision;
  return refuse_strategy(strategy, world);
}

TEST(TrainingStrategies, HaveNoMoreColocatedServersThanWorkers) {
  TrainingStrategy strategy;
  strategy.algorithm = parse_algorithm_rule("ps");
  strategy.server_mode = ServerMode::colocated;
  strategy.set_servers(4, 2);
  EXPECT_EQ(strategy.servers, 2);
  strategy.set_servers(1, 2);
  EXPECT_EQ(strategy.servers, 1);
  strategy.server_mode = ServerMode::dedicated;
  strategy.set_servers(4, 2);
  EXPECT_EQ(strategy.servers, 4);
}

TEST(TrainingStrategies, AddUpWithinNodesWhereThePlacementSaysSo) {
  TrainingStrategy strategy;
  strategy.algorithm = parse_algorithm_rule("ps");
  EXPECT_EQ(strategy.world(16, 4).group, 1);
  for (const Placement* placement : placements()) {
    strategy.placement = placement;
    EXPECT_EQ(strategy.world(16, 4).group, placement->groups_nodes ? 4 : 1) << placement->name;
  }
  EXPECT_TRUE(find_entry(placements(), "sliced", "placement").groups_nodes);
}

TEST(RefuseStrategy, HasNothingAgainstWhatMakesSense) {
  EXPECT_THAT(refusal("ring", "none", "horovod"), IsEmpty());
  EXPECT_THAT(refusal("vendor", "none", "horovod"), IsEmpty());
  EXPECT_THAT(refusal("ps", "fp16", "none", {.workers = 2, .servers = 1}), IsEmpty());
  EXPECT_THAT(refusal("ring", "powersgd", "ddp"), IsEmpty());
}

TEST(RefuseStrategy, NamesWhatAnAlgorithmOfTheRuleCannotDo) {
  for (const char* rule : {"ring", "ring@1MiB/ring"})
    EXPECT_THAT(refusal(rule, "none", "none", {.workers = 2, .servers = 1}), HasSubstr("ring")) << rule;
  EXPECT_THAT(refusal("vendor", "int8", "none"), HasSubstr("it cannot be combined with int8"));
  EXPECT_EQ(refusal("vendor", "fp16", "none"), "") << "frameworks cast before they call a library";
}

TEST(RefuseStrategy, KeepsFactorsAwayFromBucketsThatChange) {
  for (const char* fusion : {"threshold", "horovod", "horovod-2018"})
    EXPECT_THAT(refusal("ring", "powersgd", fusion), HasSubstr("differ from step to step; take ddp")) << fusion;
  for (const char* fusion : {"none", "ddp", "byteps", "mg-wfbp"})
    EXPECT_THAT(refusal("ring", "powersgd", fusion), IsEmpty()) << fusion;
}

// What was carried over would count double, or half, in the units of the next step.
TEST(RefuseStrategy, KeepsALossScaleThatChangesAwayFromWhatIsCarriedOver) {
  for (const char* compressor : {"ef:topk:0.01", "ef:powersgd", "dgc"})
    EXPECT_THAT(refusal("ring", compressor, "ddp", {.workers = 2}, Precision::fp16), HasSubstr("take bf16"))
        << compressor;
  EXPECT_THAT(refusal("ring", "ef:topk:0.01", "ddp", {.workers = 2}, Precision::bf16), IsEmpty());
  EXPECT_THAT(refusal("ring", "topk:0.01", "ddp", {.workers = 2}, Precision::fp16), IsEmpty());
}

TEST(RefuseStrategy, SaysWhichCollectiveOfAMethodThereIsNot) {
  TrainingStrategy strategy{.algorithm = parse_algorithm_rule("double-binary-tree"), .fusion = parse_fusion("none")};
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}), "");
  strategy.method = parse_method("zero:1");
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}),
            "zero:1 needs a reduce-scatter, and there is none called double-binary-tree; take ring");
  strategy.method = parse_method("fsdp");
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}),
            "fsdp needs an all-gather, and there is none called double-binary-tree; take ring");
}

TEST(RefuseStrategy, HasWholeGroups) {
  TrainingStrategy strategy{.method = parse_method("hsdp:8"), .algorithm = parse_algorithm_rule("ring")};
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 16}), "");
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 12}),
            "hsdp:8 shares out the model among groups of 8, and 12 GPUs are no multiple of that");
  strategy.algorithm = parse_algorithm_rule("hierarchical");
  EXPECT_THAT(refuse_strategy(strategy, {.workers = 16, .group = 8}), HasSubstr("take ring"));
  EXPECT_EQ(refuse_groups(parse_method("hsdp:3"), 8),
            "hsdp:3 needs groups that divide a node of 8 GPUs, or are whole "
            "nodes");
  EXPECT_EQ(refuse_groups(parse_method("hsdp:4"), 8), "");
  EXPECT_EQ(refuse_groups(parse_method("hsdp:16"), 8), "");
  EXPECT_EQ(refuse_groups(parse_method("fsdp"), 8), "");
}

TEST(RefuseEngine, DoesNotShardTheStateOfALossScaleThatChanges) {
  TrainingStrategy strategy{.algorithm = parse_algorithm_rule("ring"), .precision = Precision::fp16};
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.method = parse_method("zero:1");
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}), "") << "it can be simulated";
  EXPECT_THAT(refuse_engine(strategy, false), HasSubstr("in zero:1 no rank sees all; take bf16"));
  TrainingStrategy cast = strategy;
  cast.algorithm = parse_algorithm_rule("vendor");
  cast.compressor = parse_compressor("fp16");
  EXPECT_EQ(refuse_engine(cast, false), "vendor sends elements as they are: with fp16 it is simulated only");
  EXPECT_EQ(refuse_engine(strategy, true), "") << "a replay has no such gradients";
  strategy.precision = Precision::bf16;
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.method = parse_method("fsdp");
  EXPECT_THAT(refuse_engine(strategy, false), HasSubstr("it is emulated and simulated only"));
  EXPECT_EQ(refuse_engine(strategy, true), "");
}

TEST(RefuseEngine, LetsRanksWalkForThemselvesWhereTheyNeedNotAgree) {
  TrainingStrategy strategy{.method = parse_method("decentralized"),
                            .algorithm = parse_algorithm_rule("ring"),
                            .fusion = parse_fusion("ddp")};
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.method = parse_method("gossip");
  EXPECT_EQ(refuse_engine(strategy, true), "");
  strategy.method = parse_method("async-ps");
  strategy.algorithm = parse_algorithm_rule("ps");
  EXPECT_EQ(refuse_engine(strategy, false), "") << "each tensor goes to its servers in any order";
  strategy.on_gpu = true;
  const ExecutorKind messages{.name = "cuda"}, rounds{.name = "nccl-p2p", .rounds_only = true};
  strategy.executor = &messages;
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.executor = &rounds;
  EXPECT_THAT(refuse_engine(strategy, false), HasSubstr("nccl-p2p has no way for; take the executor cuda"));
  strategy.on_gpu = false;
  strategy.executor = nullptr;
  strategy.compressor = parse_compressor("ef:topk");
  EXPECT_EQ(refuse_engine(strategy, false), "") << "each push is coded for itself";
  strategy.compressor = parse_compressor("none");
  strategy.fusion = parse_fusion("byteps");
  EXPECT_THAT(refuse_engine(strategy, false), HasSubstr("byteps cuts them otherwise"));
}

TEST(RefuseStrategy, LetsPushesBeCodedByWhatAlwaysSendsAsManyBytes) {
  TrainingStrategy strategy{.method = parse_method("async-ps"), .algorithm = parse_algorithm_rule("ps")};
  strategy.fusion = parse_fusion("none");
  strategy.placement = &find_entry(placements(), "greedy", "placement");
  const auto refusal = [&](const char* compressor) {
    strategy.compressor = parse_compressor(compressor);
    return refuse_strategy(strategy, {.workers = 4, .servers = 2});
  };
  for (const char* compressor : {"none", "fp16", "int8", "topk", "ef:onebit", "dgc", "qsgd"})
    EXPECT_EQ(refusal(compressor), "") << compressor;
  EXPECT_EQ(refusal("ef2:onebit"),
            "ef2:onebit codes sums as well, and servers of async-ps return parameters; take ef:onebit");
  EXPECT_THAT(refusal("threshold"), HasSubstr("which servers of async-ps cannot know; take topk"));
  EXPECT_THAT(refusal("powersgd"), HasSubstr("compresses an all-reduce as a whole, and async-ps has none"));
}

TEST(RefuseEngine, KeepsNoOptimizerStateForBucketsThatChange) {
  TrainingStrategy strategy{.method = parse_method("zero:1"),
                            .algorithm = parse_algorithm_rule("ring"),
                            .fusion = parse_fusion("horovod"),
                            .optimizer = parse_optimizer("adam")};
  EXPECT_THAT(refuse_engine(strategy, false), HasSubstr("zero:1 keeps the state of adam on the rank"));
  EXPECT_EQ(refuse_engine(strategy, true), "") << "a replay keeps none";
  strategy.fusion = parse_fusion("ddp");
  EXPECT_THAT(refuse_engine(strategy, false), HasSubstr("the buckets of ddp change; take --fusion none"));
  strategy.fusion = parse_fusion("byteps");
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.fusion = parse_fusion("horovod");
  strategy.method = parse_method("synchronous");
  EXPECT_EQ(refuse_engine(strategy, false), "");
}

TEST(RefuseStrategy, ExchangesMomentaOfAdamByTheMethodsOwnCompressor) {
  TrainingStrategy strategy{.method = parse_method("qadam"),
                            .algorithm = parse_algorithm_rule("ring"),
                            .compressor = parse_compressor("minmax8"),
                            .fusion = parse_fusion("ddp"),
                            .optimizer = parse_optimizer("adam")};
  const auto refusal = [&] { return refuse_strategy(strategy, {.workers = 4}); };
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.precision = Precision::fp16;
  EXPECT_EQ(
      refusal(),
      "fp16 leaves out steps whose gradients are not finite, and momenta of qadam:100 have them already; take bf16");
  strategy.precision = Precision::bf16;
  strategy.compressor = parse_compressor("fp16");
  EXPECT_EQ(refusal(),
            "qadam:100 codes what it exchanges by minmax8, and by nothing else; leave out --compressor fp16");
  strategy.compressor = parse_compressor("minmax8");
  for (const char* optimizer : {"sgd", "momentum", "adamw"}) {
    strategy.optimizer = parse_optimizer(optimizer);
    EXPECT_EQ(refusal(), fmt::format("qadam:100 exchanges the momentum of Adam, and not of {}; give --optimizer adam",
                                     strategy.optimizer->text()));
  }
  strategy.optimizer.reset();
  EXPECT_EQ(refusal(), "qadam:100 exchanges the momentum of Adam; give --optimizer adam");
}

TEST(RefuseStrategy, KeepsWhatSumsHaveLostAwayFromBucketsThatChange) {
  EXPECT_EQ(refusal("ring", "ef2:onebit", "ddp"), "");
  EXPECT_THAT(refusal("ring", "ef2:onebit", "horovod"),
              HasSubstr("ef2:onebit carries what sums of parts have lost from step to step for each bucket"));
  EXPECT_THAT(refusal("ring", "ef:onebit", "horovod"), IsEmpty());
  TrainingStrategy strategy{.algorithm = parse_algorithm_rule("ring"),
                            .compressor = parse_compressor("ef2:onebit"),
                            .fusion = parse_fusion("ddp")};
  EXPECT_EQ(refuse_engine(strategy, false), "");
  strategy.on_gpu = true;
  EXPECT_EQ(refuse_engine(strategy, false), "");
}

TEST(RefuseStrategy, CompressesNoParameters) {
  TrainingStrategy strategy{.method = parse_method("local-sgd:8"),
                            .algorithm = parse_algorithm_rule("ring"),
                            .compressor = parse_compressor("fp16"),
                            .fusion = parse_fusion("none")};
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}),
            "local-sgd:8 averages parameters, and fp16 compresses gradients");
  strategy.method = parse_method("diloco:8");
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}), "") << "deltas are added up, as gradients";
  strategy.method = parse_method("zero:2");
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}), "");
}

}  // namespace
}  // namespace hbench::strategy_test
