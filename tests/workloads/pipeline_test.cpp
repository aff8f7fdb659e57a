#include "workloads/simulation/pipeline.hpp"

#include <algorithm>

#include "tests/support/matchers.hpp"

namespace hbench::pipeline_test {
namespace {

constexpr double kTolerance = 1e-9;

PipelineTimes even(const ModelDivision& division, double forward, double transfer = 0) {
  const auto parts = static_cast<std::size_t>(division.stages * division.chunks);
  return {std::vector(parts, Seconds(forward)), std::vector(parts, Seconds(2 * forward)), Seconds(transfer)};
}

double length(const std::vector<std::vector<TimedPass>>& stages) {
  double end = 0;
  for (const auto& passes : stages) end = std::max(end, passes.back().end.value);
  return end;
}

/// Stages, micro-batches, chunks.
const std::vector<ModelDivision>& divisions() {
  static const std::vector<ModelDivision> all = [] {
    using Numbers = std::array<int, 3>;
    std::vector<ModelDivision> some;
    for (const auto& [stages, micro_batches, chunks] :
         {Numbers{1, 5, 1}, Numbers{2, 1, 1}, Numbers{4, 8, 1}, Numbers{8, 3, 1}, Numbers{35, 280, 1},
          Numbers{64, 512, 1}, Numbers{2, 8, 4}, Numbers{4, 4, 2}, Numbers{4, 16, 3}, Numbers{8, 64, 3},
          Numbers{35, 280, 3}})
      some.push_back({.stages = stages, .micro_batches = micro_batches, .chunks = chunks});
    return some;
  }();
  return all;
}

TEST(Pipeline, IsLongerThanItsPassesByItsBubble) {
  for (const ModelDivision& each : divisions()) {
    const double passes = 3.0 * each.chunks * each.micro_batches;
    const double bubble = (each.stages - 1.0) / (each.chunks * each.micro_batches);
    EXPECT_NEAR(length(run_pipeline(each, even(each, 1))) / passes - 1, bubble, kTolerance)
        << each.stages << ":" << each.micro_batches << ":" << each.chunks;
  }
}

TEST(Pipeline, DoesEachPassOnceAndAfterItsInput) {
  for (const ModelDivision& division : divisions()) {
    const int parts = division.stages * division.chunks;
    std::map<std::tuple<bool, int, int>, TimedPass> done;
    const auto stages = run_pipeline(division, even(division, 1, 0.25));
    for (int stage = 0; stage < division.stages; ++stage)
      for (const TimedPass& timed : stages[static_cast<std::size_t>(stage)]) {
        const auto& [forward, chunk, micro_batch] = timed.pass;
        EXPECT_TRUE(done.try_emplace({forward, chunk * division.stages + stage, micro_batch}, timed).second);
      }
    EXPECT_EQ(std::ssize(done), 2 * parts * division.micro_batches);
    for (const auto& [key, timed] : done) {
      const auto& [forward, part, micro_batch] = key;
      const int before = forward ? part - 1 : part + 1;
      if (before >= 0 && before < parts) {
        EXPECT_GE(timed.begin.value, done.at({forward, before, micro_batch}).end.value + 0.25 - kTolerance);
      }
      if (!forward) {
        EXPECT_GE(timed.begin, done.at({true, part, micro_batch}).end);
      }
    }
  }
}

TEST(Pipeline, OfTwoStagesAlternatesOnceTheFirstGradientsAreBack) {
  const ModelDivision division{.stages = 2, .micro_batches = 3};
  const auto forward = [](int micro_batch) { return PipelinePass{true, 0, micro_batch}; };
  const auto backward = [](int micro_batch) { return PipelinePass{false, 0, micro_batch}; };
  EXPECT_THAT(passes_of(0, division),
              ElementsAre(forward(0), forward(1), backward(0), forward(2), backward(1), backward(2)));
  EXPECT_THAT(passes_of(1, division),
              ElementsAre(forward(0), backward(0), forward(1), backward(1), forward(2), backward(2)));
}

TEST(Pipeline, HasNoMoreMicroBatchesInFlightThanStagesBehind) {
  const ModelDivision division{.stages = 4, .micro_batches = 9};
  for (int stage = 0; stage < division.stages; ++stage) {
    int in_flight = 0, most = 0;
    for (const PipelinePass& pass : passes_of(stage, division))
      most = std::max(most, in_flight += pass.forward ? 1 : -1);
    EXPECT_EQ(most, division.stages - stage);
  }
}

TEST(Pipeline, OfOneMicroBatchWaitsForEachTransfer) {
  const ModelDivision division{.stages = 4, .micro_batches = 1};
  EXPECT_NEAR(length(run_pipeline(division, even(division, 1, 0.5))), 4 * 3 + 2 * 3 * 0.5, kTolerance);
}

TEST(Pipeline, IsAsSlowAsItsSlowestStage) {
  const ModelDivision division{.stages = 2, .micro_batches = 100};
  PipelineTimes times = even(division, 1);
  times.forward[1] = Seconds(2);
  times.backward[1] = Seconds(4);
  EXPECT_NEAR(length(run_pipeline(division, times)), 1 + 100 * 6 + 2, kTolerance);
}

TEST(Pipeline, IsDrawnStageByStage) {
  const std::string drawing = to_text(drawn({.stages = 2, .micro_batches = 3}));
  EXPECT_THAT(drawing, HasSubstr("stage 0  F0F1    [B0]F2[B1]  [B2]\n"
                                 "stage 1    F0[B0]F1[B1]F2[B2]\n"));
  const std::string large = to_text(drawn({.stages = 64, .micro_batches = 512}));
  for (std::size_t begin = 0; begin < large.size(); begin = large.find('\n', begin) + 1)
    EXPECT_LE(large.find('\n', begin) - begin, 84);
}

}  // namespace
}  // namespace hbench::pipeline_test
