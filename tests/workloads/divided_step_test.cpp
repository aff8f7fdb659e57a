// Models divided among ranks: what they exchange, their steps in closed form, memory, and what is refused.

#include "workloads/simulation/step_times.hpp"

#include "tests/collectives/clusters.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/divided_model.hpp"

namespace hbench::divided_step_test {
namespace {

constexpr double kTolerance = 1e-9;

/// A micro-batch of two samples of 24 blocks, which are all that takes time.
StepTimeline blocks_alone() {
  StepTimeline timeline{.batch = 2, .forward = Seconds(0.24), .backward = Seconds(0.48), .gradients = {}};
  timeline.blocks =
      EqualBlocks{.count = 24, .share = 1.0 / 24, .elements = 1000, .before = 500, .after = 400, .passed_on = 4096};
  return timeline;
}

/// What a step has exchanged, in bytes: by collective and size of groups, and between stages.
struct Exchanged {
  std::map<std::pair<CollectiveKind, int>, double> collectives;
  double shifted = 0;
  int distance = 0;
};

struct Free {
  Exchanged exchanged;
  StepTimes times;
};

/// A step that exchanges for nothing, or for the same number of seconds each.
Free run(const char* method, int workers, Seconds each = Seconds(0), StepTimeline timeline = blocks_alone(),
         Recomputation recomputation = Recomputation::none, bool overlap = false) {
  const TrainingStrategy strategy{.method = parse_method(method), .overlap = overlap, .recomputation = recomputation};
  Free free;
  free.times = simulate({.timeline = timeline,
                         .strategy = strategy,
                         .workers = workers,
                         .collective =
                             [&](CollectiveKind kind, const RankGroups& groups, double bytes) {
                               free.exchanged.collectives[{kind, groups.size}] += bytes;
                               return each;
                             },
                         .shift =
                             [&](int distance, double bytes) {
                               free.exchanged.distance = distance;
                               free.exchanged.shifted += bytes;
                               return each;
                             }},
                        nullptr);
  const StepTimes& times = free.times;
  EXPECT_NEAR((times.compute + times.straggler + times.exposed + times.update).value, times.step.value, kTolerance);
  return free;
}

TEST(DividedStep, TakesItsShareOfThePassesAndTheBubble) {
  for (const auto& [method, ranks, micro_batches, bubble] :
       std::vector<std::tuple<const char*, int, int, double>>{{"tensor:4", 4, 1, 0},
                                                              {"pipeline:4:8", 4, 8, 3.0 / 8},
                                                              {"pipeline:4:8:3", 4, 8, 3.0 / 24},
                                                              {"tensor:2+pipeline:8:16", 16, 16, 7.0 / 16},
                                                              {"tensor:2+pipeline:8:16:3", 16, 16, 7.0 / 48}})
    for (const int replicas : {1, 4}) {
      const StepTimes times = run(method, ranks * replicas).times;
      const double passes = 0.72 * micro_batches / ranks;
      EXPECT_NEAR(times.step.value, passes * (1 + bubble), kTolerance) << method;
      EXPECT_NEAR(times.compute.value, passes, kTolerance) << method;
      EXPECT_NEAR(times.idle.value, passes * bubble, kTolerance) << method;
      EXPECT_NEAR(times.alone.value, passes, kTolerance) << method;
    }
}

TEST(DividedStep, ExchangesNothingWithinTensorGroupsOfOneRank) {
  for (const char* method : {"pipeline:2:4", "pipeline:4:8:3"})
    for (const auto& [exchange, bytes] : run(method, 8, Seconds(0.001)).exchanged.collectives)
      EXPECT_EQ(exchange.first, CollectiveKind::all_reduce) << method << " exchanges gradients alone";
}

// Field notes B.1: all-gather and reduce-scatter of b s h twice per layer and pass. `collective` is asked once for all.
TEST(DividedStep, ExchangesWhatLiesBetweenLayersWithinTensorGroups) {
  const Seconds each(0.001);
  const StepTimes plain = run("tensor:4", 8, each).times;
  const double passes = 0.72 / 4, of_tensors = 24 * 2 * 2 * 2 * 0.001;
  EXPECT_NEAR(plain.step.value, passes + of_tensors + 0.001, kTolerance) << "with the all-reduce of gradients";
  EXPECT_NEAR(plain.communication.value, of_tensors + 0.001, kTolerance);
  const StepTimes again = run("tensor:4", 8, each, blocks_alone(), Recomputation::full).times;
  EXPECT_NEAR((again.step - plain.step).value, of_tensors / 2, kTolerance) << "the forward pass a second time";
  const Exchanged bytes = run("tensor:4", 8).exchanged;
  EXPECT_EQ(bytes.collectives.at({CollectiveKind::all_gather, 4}), 2 * 4096);
  EXPECT_EQ(bytes.collectives.at({CollectiveKind::reduce_scatter, 4}), 2 * 4096);
  EXPECT_EQ(bytes.collectives.at({CollectiveKind::all_reduce, 2}), 4 * (24 * 1000 + 500) / 4);
}

TEST(DividedStep, PassesOnAPartFromEachRankOfATensorGroup) {
  const Exchanged bytes = run("tensor:2+pipeline:4:8", 16).exchanged;
  EXPECT_EQ(bytes.shifted, 2 * 4096 / 2);
  EXPECT_EQ(bytes.distance, 4) << "stages of two replicas with two ranks each";
  EXPECT_EQ(bytes.collectives.at({CollectiveKind::all_reduce, 2}), 4 * (6 * 1000 + 500) / 2);
}

TEST(DividedStep, SharesOutTheUpdateWithZero) {
  StepTimeline timeline = blocks_alone();
  timeline.update = Seconds(0.1);
  const Free plain = run("pipeline:4:8", 16, Seconds(0), timeline),
             zero = run("pipeline:4:8+zero:1", 16, Seconds(0), timeline);
  EXPECT_NEAR(plain.times.update.value, 0.1 * 6500 / 24500, kTolerance);
  EXPECT_NEAR(zero.times.update.value, plain.times.update.value / 4, kTolerance);
  EXPECT_EQ(zero.exchanged.collectives.at({CollectiveKind::reduce_scatter, 4}), 4 * 6500);
  EXPECT_EQ(zero.exchanged.collectives.at({CollectiveKind::all_gather, 4}), 4 * 6500);
}

// Six blocks, in one chunk or in several, whose last backward passes take 0.02 s each, and a reduction of 0.06 s in six
// parts: one is left over.
TEST(DividedStep, HidesGradientsBehindTheLastBackwardPassOfEachChunkWithOverlap) {
  for (const char* method : {"pipeline:4:8", "pipeline:4:8:2", "pipeline:4:8:3", "pipeline:4:8:6"}) {
    const Seconds each(0.06);
    const double after = run(method, 8, each).times.step.value;
    const double beside = run(method, 8, each, blocks_alone(), Recomputation::none, true).times.step.value;
    EXPECT_NEAR(after - beside, 0.05, kTolerance) << method;
  }
}

// A reduction of 2.4 s is on its way all the time from the first gradients on, those of the last chunk. Its six last
// backward passes begin 0.12 s before its end where it is the only one, and further ones follow where it is not.
TEST(DividedStep, HidesMoreOfALongReductionTheMoreChunksThereAre) {
  double least = 0;
  for (const char* method : {"pipeline:1:8", "pipeline:2:8:2", "pipeline:2:8:3", "pipeline:2:8:6"}) {
    const double after = run(method, 8, Seconds(2.4)).times.step.value;
    const double beside = run(method, 8, Seconds(2.4), blocks_alone(), Recomputation::none, true).times.step.value;
    EXPECT_GT(after - beside, least) << method;
    least = after - beside;
  }
}

TEST(DividedStep, WritesTheSpansOfTheFirstStage) {
  const TrainingStrategy strategy{.method = parse_method("pipeline:2:3"),
                                  .algorithm = parse_algorithm_rule("ring"),
                                  .fusion = parse_fusion("none")};
  std::vector<Span> spans;
  const StepTimes times =
      StepSimulator(support::round_cluster(), {.workers = 4}).run(blocks_alone(), strategy, 1, End::stated, &spans);
  EXPECT_EQ(spans.front().kind, SpanKind::step);
  EXPECT_EQ(spans.front().end, times.step);
  EXPECT_EQ(std::ranges::count(spans, SpanKind::forward, &Span::kind), 3);
  EXPECT_EQ(std::ranges::count(spans, SpanKind::backward, &Span::kind), 3);
}

// On the round cluster: 4096 bytes are 1024 elements of 4 bytes; a ring of two nodes takes 2 (1 ms + half of them).
TEST(DividedStep, TakesItsTimesFromTheNetwork) {
  Profile cluster = support::round_cluster();
  const TrainingStrategy strategy{.method = parse_method("pipeline:2:1"),
                                  .algorithm = parse_algorithm_rule("ring"),
                                  .fusion = parse_fusion("none"),
                                  .overlap = false};
  StepTimeline timeline = blocks_alone();
  timeline.batch = 1;
  const double shift = 0.001 + 1024 / 1e6;
  EXPECT_NEAR(StepSimulator(cluster, {.workers = 2}).run(timeline, strategy).step.value, 0.72 + 2 * shift, kTolerance);
  const double reduced = 2 * (0.001 + (12 * 1000 + 500) / 2 / 1e6);
  EXPECT_NEAR(StepSimulator(cluster, {.workers = 4}).run(timeline, strategy).step.value, 0.72 + 2 * shift + reduced,
              kTolerance);
}

TEST(BlocksOf, AreTheLayersOfATransformer) {
  for (const char* name : {"gpt3-175b", "llama2-13b", "llama3-8b"}) {
    const Trace trace = computed_trace(name);
    const EqualBlocks blocks = blocks_of(*trace.shape, 2);
    EXPECT_EQ(blocks.count, trace.shape->layers);
    EXPECT_NEAR(
        (blocks.count * blocks.elements + blocks.before + (trace.shape->tied ? 0 : blocks.after)) / trace.elements(), 1,
        1e-6);
    EXPECT_LT(blocks.count * blocks.share, 1) << "the output layer takes its share";
    EXPECT_EQ(blocks.passed_on, 2.0 * trace.shape->seq * trace.shape->hidden);
  }
}

std::string refusal(const char* method, const char* workload,
                    const DividedJob& job = {.workers = 64, .gpus_per_node = 8}) {
  return refuse_division(parse_method(method), computed_trace(workload), job);
}

TEST(RefuseDivision, SaysWhatDoesNotDivide) {
  EXPECT_EQ(refusal("tensor:8+pipeline:4:8", "llama2-13b"), "");
  EXPECT_EQ(refusal("tensor:5", "llama2-7b"), "tensor:5 needs a number that divides the 32 heads of the model");
  EXPECT_EQ(refusal("tensor:16", "llama2-7b"), "tensor:16 needs a number that divides a node of 8 GPUs");
  EXPECT_EQ(refusal("pipeline:64:8", "llama2-7b"),
            "a pipeline of 64 stages has more of them than the 32 layers of the model");
  EXPECT_EQ(refusal("pipeline:3:8", "llama2-7b"), "32 layers are no multiple of 3 stages");
  EXPECT_EQ(refusal("pipeline:8:8:3", "llama2-7b"), "32 layers are no multiple of 8 stages with 3 chunks each");
  EXPECT_EQ(refusal("pipeline:4:6:2", "llama2-7b"),
            "an interleaved pipeline of 4 stages needs a multiple of 4 micro-batches, not 6");
  EXPECT_EQ(refusal("tensor:8+pipeline:16:16", "llama2-7b", {.workers = 64, .gpus_per_node = 8}),
            "tensor:8+pipeline:16:16 has 128 GPUs in a replica, and 64 are no multiple of that");
  EXPECT_EQ(refusal("pipeline:4:8", "llama2-7b", {.workers = 64, .gpus_per_node = 8, .batch_per_gpu = 1}),
            "1 samples per GPU are 4 of the 4 GPUs of a replica, and no multiple of 8 micro-batches");
  EXPECT_THAT(refusal("pipeline:4:4", "llama2-7b", {.workers = 64, .gpus_per_node = 8, .accumulate = 2}),
              HasSubstr("write such as pipeline:4:2"));
  Trace images;
  images.name = "resnet50";
  EXPECT_THAT(refuse_division(parse_method("tensor:2"), images, {.workers = 8, .gpus_per_node = 8}),
              HasSubstr("and resnet50 is none"));
}

// Korthikanti et al., equations 4 and 5: s b h L / t (34 + 5 a s / h), times 1 + (p - 1)/(p v) where interleaved.
TEST(DividedMemory, OfTheFirstStageIsThatOfItsClosedForm) {
  const Trace trace = computed_trace("gpt:layers=96,hidden=12288,heads=96,vocab=51200,seq=2048,attention=plain");
  const NumberBytes half{.activation = 2, .weight = 2, .gradient = 2, .master = 4, .state = 4};
  const double sbh = 2048.0 * 12288, all = sbh * 96 / 8 * (34 + 5.0 * 96 * 2048 / 12288);
  const auto kept = [&](const ModelDivision& division, Recomputation how) {
    return divided_memory(trace, division, 1, 1, half, how).activations.value;
  };
  const ModelDivision interleaved{.tensor = 8, .stages = 8, .micro_batches = 64, .chunks = 3};
  const ModelDivision plain{.tensor = 8, .stages = 8, .micro_batches = 64};
  EXPECT_NEAR(kept(plain, Recomputation::none) / all, 1, kTolerance);
  EXPECT_NEAR(kept(interleaved, Recomputation::none) / all, 1 + 7.0 / 24, kTolerance);
  const double selective = sbh * 96 / 8 * 34, of_layer = sbh / 8 * 5.0 * 96 * 2048 / 12288;
  EXPECT_NEAR(kept(plain, Recomputation::selective), selective + of_layer, 1);
  const double full = sbh * 96 / 8 * 2;
  EXPECT_NEAR(kept(plain, Recomputation::full), full + all / 96 - full / 96, 1);
  const double few = kept({.tensor = 8, .stages = 8, .micro_batches = 2}, Recomputation::none);
  EXPECT_NEAR(few / all, 2.0 / 8, kTolerance) << "no more are in flight than there are";
}

TEST(DividedMemory, SharesOutTheStateOfAStage) {
  const Trace trace = computed_trace("gpt3-175b");
  const NumberBytes half{.activation = 2, .weight = 2, .gradient = 2, .master = 4, .state = 4};
  const ModelDivision division{.tensor = 8, .stages = 8, .micro_batches = 64};
  const StepMemory whole = divided_memory(trace, division, 1, 1, half, Recomputation::full);
  const EqualBlocks blocks = blocks_of(*trace.shape, 2);
  EXPECT_NEAR(whole.weights.value, 2 * (12 * blocks.elements + blocks.before) / 8, 1e3);
  EXPECT_NEAR(divided_memory(trace, division, 1, 4, half, Recomputation::full).optimizer / whole.optimizer, 0.25,
              kTolerance);
}

}  // namespace
}  // namespace hbench::divided_step_test
