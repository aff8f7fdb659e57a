// How many samples a GPU takes, and how fast it is with them.

#include "analysis/prediction/one_gpu.hpp"
#include "analysis/prediction/request.hpp"
#include "analysis/published/published.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::batches_test {
namespace {

TEST(GpuBatch, IsTheSameAtEveryCountUnlessAGlobalBatchIsShared) {
  struct Row {
    int batch, accumulate, global, workers;  // asked for
    int per_gpu, parts;
  };
  for (const Row& row :
       {Row{0, 0, 0, 8, 32, 0}, Row{64, 0, 0, 8, 64, 0}, Row{64, 4, 0, 8, 256, 4}, Row{0, 4, 0, 2, 128, 4},
        Row{0, 1, 0, 2, 32, 0}, Row{0, 0, 8192, 64, 128, 0}, Row{0, 4, 8192, 64, 128, 4}, Row{32, 0, 8192, 64, 128, 4},
        Row{128, 0, 8192, 64, 128, 0}, Row{32, 4, 8192, 64, 128, 4}, Row{0, 0, 8192, 1, 8192, 0}}) {
    const PredictionRequest request{.batch = row.batch, .accumulate = row.accumulate, .global_batch = row.global};
    const GpuBatch batch = gpu_batch(request, row.workers, 32);
    SCOPED_TRACE(testing::Message() << row.batch << " " << row.accumulate << " " << row.global << " " << row.workers);
    EXPECT_THAT(batch.why_not, IsEmpty());
    EXPECT_EQ(batch.batch, row.per_gpu);
    EXPECT_EQ(batch.accumulate, row.parts);
  }
}

TEST(GpuBatch, ThatIsNotWholeIsRefusedWithTheNearestThatAre) {
  const auto why = [](int batch, int accumulate, int global, int workers) {
    return gpu_batch({.batch = batch, .accumulate = accumulate, .global_batch = global}, workers, 32).why_not;
  };
  EXPECT_EQ(why(0, 0, 8192, 48),
            "a global batch of 8192 is no multiple of 48 GPUs with one batch each: 8160 and 8208 are");
  EXPECT_EQ(why(0, 2, 8192, 48),
            "a global batch of 8192 is no multiple of 48 GPUs with 2 micro-batches: 8160 and 8256 are");
  EXPECT_EQ(why(64, 0, 8192, 48),
            "a global batch of 8192 is no multiple of 48 GPUs with micro-batches of 64: 6144 and 9216 are");
  EXPECT_EQ(why(0, 0, 8, 16), "a global batch of 8 is no multiple of 16 GPUs with one batch each: the least is 16");
  EXPECT_EQ(why(1000, 1001, 0, 8), "1001 micro-batches of 1000 samples are more than 1000000 on one GPU");
  EXPECT_EQ(why(64, 2, 8192, 32), "32 GPUs with 2 micro-batches of 64 samples make a global batch of 4096, not 8192");
}

TEST(BatchesInWords, SayWhichScalingItIsWhereItIsNotTheUsualOne) {
  EXPECT_EQ(batches_in_words({}), "");
  EXPECT_EQ(batches_in_words({.global_batch = 8192}), "strong scaling: 8192 samples a step at every GPU count");
  EXPECT_EQ(batches_in_words({.accumulate = 4}),
            "weak scaling; 4 micro-batches per step, whose gradients travel together");
}

/// 20 ms of passes and 5 ms of update for 10 samples, on a GPU whose rate is known at 10 and 40 samples.
Catalog catalog_of(double update) {
  Catalog catalog;
  Profile& profile = catalog.profiles["p"];
  profile.rates["w"] = {
      .samples_per_second = 400, .batch = 10, .source = "a test", .factor = 1.1, .others = {{40, 800}}};
  catalog.traces["w"] = {.name = "w",
                         .title = "w",
                         .source = "a test",
                         .timeline = {.batch = 10,
                                      .forward = Seconds(0.005),
                                      .backward = Seconds(0.020 - update),
                                      .update = Seconds(update),
                                      .gradients = {{"a", 1, Seconds(0.01)}}}};
  return catalog;
}

PlannedCase strong_case(int batch, int accumulate = 0) {
  Case asked{.workload = "w", .profile = "p"};
  asked.batch_per_gpu = batch;
  asked.accumulate = accumulate;
  asked.global_batch = 8 * batch;
  return planned(asked, no_communication(true, Precision::float32));
}

TEST(OneGpu, HasTheRatesThatAreKnownAndStepsBetweenThemGrowEvenly) {
  const Catalog catalog = catalog_of(0.005);
  EXPECT_DOUBLE_EQ(one_gpu(strong_case(10), catalog).samples_per_second, 400);
  EXPECT_DOUBLE_EQ(one_gpu(strong_case(40), catalog).samples_per_second, 800);
  // 25 ms for 10 and 50 ms for 40: 37.5 ms for 25.
  EXPECT_DOUBLE_EQ(one_gpu(strong_case(25), catalog).samples_per_second, 25 / 0.0375);
  for (const int batch : {10, 25, 40}) {
    EXPECT_EQ(one_gpu(strong_case(batch), catalog).known_at, 0);
    EXPECT_DOUBLE_EQ(one_gpu(strong_case(batch), catalog).factor, 1.1);
  }
}

TEST(OneGpu, OfARateOfSingleSamplesKnowsTheirBatch) {
  Catalog catalog = catalog_of(0.005);
  GpuRate& rate = catalog.profiles["p"].rates["w"];
  rate.batch = 1;
  rate.others.clear();
  EXPECT_EQ(one_gpu(strong_case(4), catalog).known_at, 1);
}

TEST(OneGpu, BeyondThemHasAWiderBandAndAnUpdateThatStays) {
  const Catalog catalog = catalog_of(0.005);
  const OneGpu small = one_gpu(strong_case(5), catalog);
  const double fixed = kLeastOfTensor.value;
  EXPECT_DOUBLE_EQ(small.samples_per_second, 5 / (fixed + (0.020 - fixed) / 2 + 0.005))
      << "half of 20 ms, but for what its one tensor takes at least, and all of 5 ms";
  EXPECT_EQ(small.known_at, 10);
  EXPECT_NEAR(std::log(small.factor), std::hypot(std::log(1.1), std::log(0.8 / 0.5)), 1e-12)
      << "a step of which 60 % are fixed takes 0.8 as long for half of the batch";
  EXPECT_EQ(one_gpu(strong_case(80), catalog).known_at, 40);
  EXPECT_NEAR(one_gpu(strong_case(5), catalog_of(0)).samples_per_second, 400, 1) << "hardly a part is fixed";
  Catalog many = catalog_of(0);
  many.traces["w"].timeline.gradients.assign(1000, {"a", 1, Seconds(0.01)});
  EXPECT_DOUBLE_EQ(one_gpu(strong_case(5), many).samples_per_second, 5 / (0.025 * (0.6 + 0.4 / 2)))
      << "of tensors that would take longer than the step 60 % are fixed";
}

TEST(OneGpu, HasTheRateOfItsBatchUnderWeakScalingTooAndKeepsOneThatIsGiven) {
  PlannedCase weak = strong_case(5);
  weak.asked.global_batch = 0;
  EXPECT_DOUBLE_EQ(one_gpu(weak, catalog_of(0.005)).samples_per_second,
                   one_gpu(strong_case(5), catalog_of(0.005)).samples_per_second);
  PlannedCase given = strong_case(5);
  given.asked.single_gpu_rate = 123;
  EXPECT_DOUBLE_EQ(one_gpu(given, catalog_of(0.005)).samples_per_second, 123);
  EXPECT_EQ(one_gpu(given, catalog_of(0.005)).factor, 1);
}

// Of ten samples each: three times 20 ms of passes, and one update.
TEST(OneGpu, UpdatesOnceForAllMicroBatches) {
  const StepTimeline timeline = timeline_of(strong_case(30, 3), catalog_of(0.005));
  EXPECT_EQ(timeline.batch, 30);
  EXPECT_NEAR(timeline.step().value, 0.065, 1e-12);
  EXPECT_NEAR(timeline.backward.value, 0.015, 1e-12);
  EXPECT_NEAR(timeline.update.value, 0.005, 1e-12);
}

TEST(KnownBatches, AreOfWorkloadsWithASourceAndGrow) {
  for (const KnownBatch& known : known_batches()) {
    EXPECT_FALSE(known.source.empty() || known.how.empty());
    EXPECT_GT(known.samples, 0);
  }
}

TEST(KnownBatches, WarnOfMoreSamplesAndOfNothingThatIsNotKnown) {
  Case asked{.workload = "resnet50", .gpus = 512};
  asked.batch_per_gpu = 64;
  EXPECT_EQ(warn_of_batch(asked), "") << "32768: You et al.";
  asked.batch_per_gpu = 256;
  EXPECT_THAT(warn_of_batch(asked),
              HasSubstr("a step of 131072 samples; resnet50 is known to converge with up to 67456"));
  asked.workload = "vgg16";
  EXPECT_EQ(warn_of_batch(asked), "");
  asked.workload = "bert_large";
  EXPECT_THAT(warn_of_batch(asked), HasSubstr("LAMB"));
}

}  // namespace
}  // namespace hbench::batches_test
