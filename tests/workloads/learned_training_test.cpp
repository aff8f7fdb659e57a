// Training on data: what is learned of it, by whom, and that nobody sees it twice in an epoch.

#include "tests/support/matchers.hpp"
#include "tests/workloads/training_cases.hpp"
#include "workloads/training.hpp"

namespace hbench::learned_training_test {
namespace {

TrainingRequest request_for(const char* model, int workers, int epochs) {
  TrainingRequest request = small_request(model, {.workers = workers}, "ring");
  request.data = "mnist1d";
  request.epochs = epochs;
  request.batch = 50;
  request.learning_rate = {};
  request.freeze_batch_norm = false;
  request.strategy.optimizer = parse_optimizer("momentum");
  return request;
}

struct End {
  std::uint64_t digest = 0;
  std::vector<Learned> learned;
};

std::vector<Outcome<End>> trained(const TrainingRequest& request) {
  return on_all_ranks(make_thread_endpoints(request.world.ranks()), [&](Endpoint& endpoint) {
    End end;
    const auto on_learned = [&](const Learned& each) { end.learned.push_back(each); };
    end.digest = train(
                     request, &endpoint, [](const StepReport&) {}, on_learned)
                     .digest;
    return end;
  });
}

TEST(LearnedTraining, MakesAModelThatNamesMoreSamplesRightly) {
  TrainingRequest request = request_for("cnn1d", 2, 8);
  request.learning_rate = 0.05;
  const auto ends = trained(request);
  ASSERT_EQ(ends[0].failure, "");
  const std::vector<Learned>& learned = ends[0].value.learned;
  ASSERT_EQ(learned.size(), 9U) << "after each epoch, and in the end";
  EXPECT_GT(learned.back().judged.accuracy, 0.7);
  EXPECT_LT(learned.back().judged.loss, learned.front().judged.loss);
  for (std::size_t i = 0; i + 1 < learned.size(); ++i) {
    EXPECT_EQ(learned[i].epoch, static_cast<int>(i) + 1);
    EXPECT_EQ(learned[i].steps, 40 * (static_cast<int>(i) + 1)) << "4,000 samples are 40 batches of two ranks";
  }
  EXPECT_GT(learned[7].at, learned[0].at);
  EXPECT_THAT(ends[1].value.learned, IsEmpty()) << "rank 0 looks";
}

TEST(LearnedTraining, EndsWithTheSameBitsForTheSameSeedAndOthersForAnother) {
  TrainingRequest request = request_for("linear1d", 2, 2);
  const auto first = trained(request), second = trained(request);
  EXPECT_EQ(first[0].value.digest, second[0].value.digest);
  EXPECT_EQ(first[0].value.digest, first[1].value.digest);
  EXPECT_EQ(first[0].value.learned.back().judged.accuracy, second[0].value.learned.back().judged.accuracy);
  request.seed = 2;
  EXPECT_NE(trained(request)[0].value.digest, first[0].value.digest);
}

TEST(LearnedTraining, ShowsInATracedStepHowLongItReadsEachMicroBatch) {
  TrainingRequest request = request_for("linear1d", 2, 1);
  request.micro_batches = 2;
  request.traced_steps = 1;
  const auto traced = on_all_ranks(make_thread_endpoints(2), [&](Endpoint& endpoint) {
    std::vector<Span> spans;
    train(
        request, &endpoint,
        [&](const StepReport& report) {
          if (!report.spans.empty()) spans.assign(report.spans.begin(), report.spans.end());
        },
        [](const Learned&) {});
    return spans;
  });
  ASSERT_EQ(traced[0].failure, "");
  std::vector<Span> passes;
  for (const Span& span : traced[0].value)
    if (span.kind == SpanKind::input || span.kind == SpanKind::forward) passes.push_back(span);
  ASSERT_THAT(passes, SizeIs(4));
  for (std::size_t i = 0; i < passes.size(); ++i) {
    EXPECT_EQ(passes[i].kind, i % 2 == 0 ? SpanKind::input : SpanKind::forward) << i;
    EXPECT_GT(passes[i].duration(), Seconds(0)) << i;
    EXPECT_EQ(passes[i].begin, i > 0 ? passes[i - 1].end : passes[i].begin) << i;
  }
}

// As published: logistic regression 32 %, three convolutions 94.
TEST(LearnedTraining, OfALineLearnsLittle) {
  const auto ends = trained(request_for("linear1d", 1, 20));
  ASSERT_EQ(ends[0].failure, "");
  EXPECT_NEAR(ends[0].value.learned.back().judged.accuracy, 0.32, 0.06);
}

TEST(LearnedTraining, RefusesAModelThatTakesOtherSamples) {
  const auto refused = [](TrainingRequest request, const char* why) {
    const auto ends = trained(request);
    EXPECT_THAT(ends[0].failure, HasSubstr(why));
    EXPECT_EQ(ends[0].code, ExitCode::usage);
  };
  refused(request_for("lenet5", 1, 1), "lenet5 takes pictures, and a sample of the data is 1x1x40");
  TrainingRequest request = request_for("cnn1d", 1, 1);
  request.batch = 5000;
  refused(request, "4000 samples are 4000 for each of 1 ranks, and a batch is 5000");
}

TEST(LearnedTraining, RaisesTheRateWithTheBatchesOfAnUpdate) {
  TrainingRequest request = request_for("cnn1d", 4, 1);
  request.learning_rate = 0.1;
  request.warmup_steps = 0;
  request.steps = 100;
  EXPECT_DOUBLE_EQ(request.rate_at(99, 1), 0.1);
  EXPECT_DOUBLE_EQ(request.rate_at(99, 4), 0.4);
  EXPECT_DOUBLE_EQ(request.rate_at(4, 4), 0.25) << "half way through the tenth of the job in which it rises";
  request.strategy.optimizer = parse_optimizer("adam");
  EXPECT_DOUBLE_EQ(request.rate_at(99, 4), 0.2);
  request.data.clear();
  EXPECT_DOUBLE_EQ(request.rate_at(99, 4), 0.1);
}

}  // namespace
}  // namespace hbench::learned_training_test
