// What recomputation adds to a step, beside the published count of its operations.

#include "workloads/step/step_memory.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::recomputation_test {
namespace {

// Narayanan et al., SC 2021, section 5: 96 B s l h^2 (1 + s / 6h + V / 16lh) with recomputation of all layers; without,
// 72 B s l h^2 (1 + s / 6h + V / 12lh). The forward pass is a third of the latter.
TEST(Recomputation, OfAllLayersHasThePublishedOperations) {
  for (const char* model : {"megatron-1.7b", "gpt-22b", "gpt3-175b", "gpt-1t"}) {
    const Trace trace = computed_trace(model);
    const double l = trace.shape->layers, h = trace.shape->hidden, s = trace.shape->seq, v = trace.shape->vocab;
    const double published = 96 * (1 + s / (6 * h) + v / (16 * l * h)) / (72 * (1 + s / (6 * h) + v / (12 * l * h)));
    EXPECT_NEAR(1 + recomputed_share(trace, Recomputation::full) / 3, published, 1e-3) << model;
  }
}

// Korthikanti et al., arXiv:2205.05198, abstract: selective recomputation avoids more than 90 % of it.
TEST(Recomputation, OfScoresAloneIsLessThanATenthOfThat) {
  for (const char* shape : {"gpt:layers=48,hidden=6144,heads=64,vocab=51200,seq=2048,attention=plain",
                            "gpt:layers=105,hidden=20480,heads=128,vocab=51200,seq=2048,attention=plain"}) {
    const Trace trace = computed_trace(shape);
    const double share = recomputed_share(trace, Recomputation::selective);
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 0.1 * recomputed_share(trace, Recomputation::full));
  }
  EXPECT_EQ(recomputed_share(computed_trace("gpt-22b"), Recomputation::none), 0);
}

TEST(Recomputation, IsRefusedWhereItsLayersAreNotKnownOrKeepNoScores) {
  const Trace resnet = TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces").load("resnet50");
  const Trace fused = computed_trace("gpt-22b"), plain = computed_trace(
                                                     "gpt:layers=2,hidden=64,heads=4,vocab=100,"
                                                     "seq=16,attention=plain");
  EXPECT_THAT(refuse_recomputation(resnet, Recomputation::none), IsEmpty());
  EXPECT_THAT(refuse_recomputation(resnet, Recomputation::full), HasSubstr("transformers by their numbers"));
  EXPECT_THAT(refuse_recomputation(fused, Recomputation::full), IsEmpty());
  EXPECT_THAT(refuse_recomputation(fused, Recomputation::selective), HasSubstr("its attention is fused"));
  EXPECT_THAT(refuse_recomputation(plain, Recomputation::selective), IsEmpty());
  expect_error([] { parse_recomputation("ful"); }, ExitCode::usage, HasSubstr("ful"), HasSubstr("full"));
}

TEST(Recomputation, LengthensTheBackwardPassEvenly) {
  StepTimeline step{.batch = 4, .forward = Seconds(1), .backward = Seconds(2), .update = Seconds(0.5), .gradients = {}};
  step.gradients = {{"last", 10, Seconds(0.5)}, {"first", 20, Seconds(2)}};
  const StepTimeline again = step.recomputed(1);
  EXPECT_EQ(again.forward, Seconds(1));
  EXPECT_EQ(again.backward, Seconds(3));
  EXPECT_EQ(again.update, Seconds(0.5));
  EXPECT_EQ(again.gradients[0].ready, Seconds(0.75));
  EXPECT_EQ(again.gradients[1].ready, Seconds(3));
  EXPECT_EQ(step.recomputed(0).step(), step.step());
}

TEST(HalfGradients, AreHalfAsManyNumbersToAllThatCarriesThem) {
  StepTimeline step{.forward = Seconds(1), .backward = Seconds(2), .gradients = {}};
  step.gradients = {{"even", 10, Seconds(1)}, {"odd", 7, Seconds(2)}};
  EXPECT_EQ(step.with_half_gradients().elements(), (std::vector<std::int64_t>{5, 4}));
}

}  // namespace
}  // namespace hbench::recomputation_test
