// Real training with ranks that are threads of this process.

#include "workloads/training.hpp"

#include <fmt/format.h>

#include "collectives/base/text.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/training_checks.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::training_test {
namespace {

TEST(Training, OfManyWorkersEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const Variant& variant : kVariants) {
    for (const char* fusion : {"none", "threshold", "horovod", "ddp"}) {
      for (const char* compressor : {"none", "fp16"}) {
        for (const bool overlap : {true, false}) {
          SCOPED_TRACE(fmt::format("{} {} workers {} servers {} {} {} {} {}", variant.algorithm, variant.world.workers,
                                   variant.world.servers, variant.world.colocated ? "co-located" : "dedicated",
                                   variant.placement, fusion, compressor, overlap ? "overlap" : "no overlap"));
          TrainingRequest request = small_request("lenet5", variant.world, variant.algorithm);
          request.strategy.placement = &find_entry(placements(), variant.placement, "placement");
          request.strategy.fusion = parse_fusion(fusion);
          request.strategy.compressor = parse_compressor(compressor);
          request.strategy.overlap = overlap;
          expect_as_one_worker(request);
        }
      }
    }
  }
}

TEST(Training, WithEveryOptimizerEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const char* optimizer : kOptimizers)
    for (const int workers : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} {}", optimizer, workers));
      TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
      request.strategy.optimizer = parse_optimizer(optimizer);
      expect_as_one_worker(request);
    }
}

TEST(Training, WithEveryOptimizerDiffersFromPlainDescent) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  const std::vector<float> plain = reference_parameters(request);
  for (const char* optimizer : kOptimizers) {
    request.strategy.optimizer = parse_optimizer(optimizer);
    EXPECT_GT(largest_difference(reference_parameters(request), plain), 1e-3) << optimizer;
  }
}

// Two steps, since a replica has no more than four batches of data.
TEST(Training, OfMicroBatchesEndsWhereTheWholeBatchDoes) {
  for (const int workers : {1, 2})
    for (const bool overlap : {true, false})
      for (const char* compressor : {"none", "fp16"}) {
        SCOPED_TRACE(fmt::format("{} workers, {}, {}", workers, overlap ? "overlap" : "no overlap", compressor));
        TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
        request.micro_batches = 2;
        request.steps = 1;
        request.strategy.overlap = overlap;
        request.strategy.compressor = parse_compressor(compressor);
        expect_as_one_worker(request);
      }
}

TEST(Training, OfMicroBatchesAloneEndsWhereTheWholeBatchDoes) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  request.micro_batches = 2;
  request.steps = 1;
  Replica replica = make_replica(request, 0);
  train_alone(replica, request, [](const StepReport&) {});
  EXPECT_LE(largest_difference(replica.parameters(), reference_parameters(request)), tolerance(request));
}

TEST(Training, OfAResNetOnTwoWorkersEndsWhereOneWorkerDoes) {
  TrainingRequest request = small_request("resnet18", {.workers = 2}, "ring");
  request.strategy.fusion = parse_fusion("horovod");
  request.learning_rate = 1e-3;
  expect_as_one_worker(request);
}

TEST(Training, MovesTheParameters) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  const std::vector<float> before = make_replica(request, 0).parameters();
  EXPECT_GT(largest_difference(reference_parameters(request), before), 100 * 2e-4)
      << "the comparisons with one worker would pass without any training";
}

TEST(Training, GivesAllWorkersOneDigestAndServersNone) {
  const TrainingRequest request = small_request("lenet5", {.workers = 2, .servers = 1}, "ps");
  const auto outcomes = on_all_ranks(make_thread_endpoints(3), [&](Endpoint& endpoint) {
    return train(request, &endpoint, [](const StepReport&) {}).digest;
  });
  EXPECT_EQ(outcomes[0].value, outcomes[1].value);
  EXPECT_NE(outcomes[0].value, 0U);
  EXPECT_EQ(outcomes[2].value, 0U);
}

TEST(Training, ReportsEveryStepOnEveryWorkerWarmUpFirst) {
  TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
  request.warmup_steps = 2;
  request.steps = 3;
  const auto outcomes = on_all_ranks(make_thread_endpoints(2), [&](Endpoint& endpoint) {
    std::vector<StepReport> reports;
    train(request, &endpoint, [&](const StepReport& report) { reports.push_back(report); });
    return reports;
  });
  for (const auto& outcome : outcomes) {
    ASSERT_THAT(outcome.value, SizeIs(5));
    for (int i = 0; i < 5; ++i) {
      const StepReport& report = outcome.value[static_cast<std::size_t>(i)];
      EXPECT_EQ(report.iteration, i);
      EXPECT_EQ(report.warmup, i < 2);
      EXPECT_GT(report.step, report.exposed);
    }
  }
}

/// The one span of a kind on the compute thread.
Span lap_of(std::span<const Span> spans, SpanKind kind) {
  Span found;
  int count = 0;
  for (const Span& span : spans)
    if (span.kind == kind && span.lane == Lane::compute) found = span, ++count;
  EXPECT_EQ(count, 1) << to_string(kind);
  return found;
}

TEST(Training, TracesStepsAfterTheTimedOnes) {
  TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
  request.warmup_steps = 1;
  request.steps = 2;
  request.traced_steps = 2;
  request.faults = {{.rank = 1, .delay = Seconds(0.02)}};
  const auto outcomes = on_all_ranks(make_thread_endpoints(2), [&](Endpoint& endpoint) {
    std::vector<std::vector<Span>> traces;
    train(request, &endpoint,
          [&](const StepReport& report) { traces.emplace_back(report.spans.begin(), report.spans.end()); });
    return traces;
  });
  for (Rank rank = 0; rank < 2; ++rank) {
    const auto& traces = outcomes[static_cast<std::size_t>(rank)].value;
    ASSERT_THAT(traces, SizeIs(5));
    for (int i = 0; i < 3; ++i) EXPECT_THAT(traces[static_cast<std::size_t>(i)], SizeIs(0)) << "step " << i;
    for (const std::vector<Span>& spans : {traces[3], traces[4]}) {
      const Span whole = lap_of(spans, SpanKind::step), forward = lap_of(spans, SpanKind::forward);
      const Span backward = lap_of(spans, SpanKind::backward), wait = lap_of(spans, SpanKind::wait);
      const Span optimizer = lap_of(spans, SpanKind::optimizer);
      EXPECT_EQ(whole.rank, rank);
      EXPECT_LE(whole.begin, forward.begin);
      EXPECT_EQ(forward.end, backward.begin);
      EXPECT_EQ(backward.end, wait.begin);
      EXPECT_EQ(wait.end, optimizer.begin);
      EXPECT_LE(optimizer.end, whole.end);
      // A test's delay is a part of the backward pass of its rank.
      EXPECT_GE(backward.duration(), rank == 1 ? *request.faults[0].delay : Seconds(0));
      EXPECT_GT(std::ranges::count(spans, SpanKind::communication, &Span::kind), 0);
    }
  }
}

TEST(Training, OfOneProcessIsTracedToo) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  request.traced_steps = 1;
  std::vector<Span> spans;
  train(request, nullptr, [&](const StepReport& report) { spans.assign(report.spans.begin(), report.spans.end()); });
  EXPECT_THAT(spans, SizeIs(4));
  EXPECT_EQ(lap_of(spans, SpanKind::forward).end, lap_of(spans, SpanKind::backward).begin);
  EXPECT_EQ(lap_of(spans, SpanKind::backward).end, lap_of(spans, SpanKind::optimizer).begin);
}

TEST(Training, HasTheSameLossesEachTime) {
  const std::uint64_t once = loss_fingerprint();
  EXPECT_EQ(loss_fingerprint(), once);
  EXPECT_NE(once, kDigestOfNothing);
}

TEST(Training, RunsOneProcessWithoutAnAlgorithm) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  int steps = 0;
  train(request, nullptr, [&](const StepReport& report) {
    ++steps;
    EXPECT_EQ(report.exposed, Seconds(0));
  });
  EXPECT_EQ(steps, 3);
}

/// An endpoint that must not be used.
class ForbiddenEndpoint final : public Endpoint {
 public:
  Transport& transport() override { throw std::logic_error("the endpoint was used"); }
  std::span<std::byte> allocate(std::size_t) override { throw std::logic_error("shared memory was used"); }
  [[noreturn]] void abort(int) override { throw std::logic_error("the job was stopped"); }
};

TEST(Training, OfOneWorkerNeitherReducesNorCopiesAnything) {
  const TrainingRequest request = small_request("lenet5", {.workers = 1}, "ring");
  Replica replica = make_replica(request, 0);
  ForbiddenEndpoint endpoint;
  int steps = 0;
  train_together(replica, request, endpoint, [&](const StepReport& report) {
    ++steps;
    EXPECT_EQ(report.exposed, Seconds(0));
  });
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(replica.parameters(), reference_parameters(request));
}

void expect_naming_of_a_silent_rank(const char* method) {
  TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
  request.strategy.method = parse_method(method);
  request.steps = 1000;
  request.timeout = Seconds(3);
  const auto outcomes = on_all_ranks(make_thread_endpoints(3), [&](Endpoint& endpoint) {
    return train(request, &endpoint,
                 [&](const StepReport& report) {
                   if (endpoint.transport().rank() == 1 && report.iteration == 2)
                     throw Error(ExitCode::internal, "struck");
                 })
        .digest;
  });
  EXPECT_EQ(outcomes[1].failure, "struck");
  for (const std::size_t rank : {0U, 2U}) {
    EXPECT_EQ(outcomes[rank].code, ExitCode::lost_rank);
    EXPECT_THAT(outcomes[rank].failure, HasSubstr("step 3"));
    EXPECT_THAT(outcomes[rank].failure, HasSubstr("rank 1"));
  }
}

TEST(Training, NamesARankThatStopsAnswering) { expect_naming_of_a_silent_rank("synchronous"); }
TEST(Training, OfADecentralizedMethodNamesANeighbourThatStopsAnswering) {
  expect_naming_of_a_silent_rank("decentralized");
}

TEST(Training, NoticesThatWorkersEndWithDifferentParameters) {
  const TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
  const auto outcomes = on_all_ranks(make_thread_endpoints(3), [&](Endpoint& endpoint) {
    compare_digests(endpoint.transport().rank() == 2 ? 8 : 7, request, endpoint.transport());
    return 0;
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.code, ExitCode::wrong_data);
    EXPECT_THAT(outcome.failure, HasSubstr("rank 2 differ"));
  }
}

ExitCode refusal(const TrainingRequest& request, Endpoint* endpoint, std::string_view part) {
  try {
    train(request, endpoint, [](const StepReport&) {});
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::string(part)));
    return error.code();
  }
  return ExitCode::good;
}

TEST(Training, RefusesWhatMakesNoSense) {
  const auto endpoints = make_thread_endpoints(2);
  TrainingRequest request = small_request("resnet81", {.workers = 1}, nullptr);
  EXPECT_EQ(refusal(request, nullptr, "did you mean 'resnet18'"), ExitCode::usage);
  request.model = "inception_v3";
  EXPECT_EQ(refusal(request, nullptr, "75 pixels"), ExitCode::usage);
  request = small_request("lenet5", {.workers = 3}, "ring");
  EXPECT_EQ(refusal(request, endpoints[0].get(), "2 ranks"), ExitCode::usage);
  EXPECT_EQ(refusal(request, nullptr, "ranks to talk to"), ExitCode::usage);
  request = small_request("lenet5", {.workers = 2}, "vendor");
  request.strategy.compressor = parse_compressor("fp16");
  EXPECT_EQ(refusal(request, endpoints[0].get(), "with fp16 it is simulated only"), ExitCode::usage);
}

/// The parameters after three steps of one process.
std::vector<float> trained_alone(const TrainingRequest& request, bool channels_last) {
  const GradientLayout layout = make_replica(request, 0).record_layout();
  Replica replica(find_entry(models(), request.model, "model"), {.batch = request.batch,
                                                                 .image_size = request.image_size,
                                                                 .freeze_batch_norm = true,
                                                                 .precision = request.strategy.precision,
                                                                 .channels_last = channels_last});
  std::vector<float> gradients(static_cast<std::size_t>(layout.total()), 1e30F);
  replica.lay_out(layout, {.gradients = gradients, .parameters = {}});
  train_alone(replica, request, [](const StepReport&) {});
  return replica.parameters();
}

TEST(Training, EndsWithTheSameWhereChannelsLieLast) {
  TrainingRequest request = small_request("resnet18", {.workers = 1}, nullptr);
  request.learning_rate = 1e-3;
  EXPECT_LE(largest_difference(trained_alone(request, true), trained_alone(request, false)), 2e-6);
}

TEST(Training, InMixedPrecisionEndsNearFloat32AndNotAtIt) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  const std::vector<float> exact = trained_alone(request, false);
  request.strategy.precision = Precision::bf16;
  const double difference = largest_difference(trained_alone(request, false), exact);
  // bfloat16 keeps 8 bits: roundings of up to 2^-9 in activations and gradients of order 1, times the rate of 0.05.
  EXPECT_GT(difference, 1e-6);
  EXPECT_LT(difference, 5e-3);
}

TEST(Training, InMixedPrecisionKeepsWorkersTogether) {
  TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
  request.strategy.precision = Precision::bf16;
  const auto outcomes = on_all_ranks(make_thread_endpoints(2), [&](Endpoint& endpoint) {
    return train(request, &endpoint, [](const StepReport&) {}).digest;
  });
  EXPECT_EQ(outcomes[0].failure, "");
  EXPECT_EQ(outcomes[0].value, outcomes[1].value);
  EXPECT_NE(outcomes[0].value, 0U);
}

/// A replica alone, and where its gradients lie.
struct LaidOutReplica {
  Replica replica = make_replica(small_request("lenet5", {.workers = 1}, nullptr), 0);
  GradientLayout layout = replica.record_layout();
  std::vector<float> gradients = std::vector<float>(static_cast<std::size_t>(layout.total()));

  LaidOutReplica() { replica.lay_out(layout, {.gradients = gradients, .parameters = {}}); }
  void step(double loss_scale) {
    replica.forward(0);
    replica.backward({}, loss_scale);
  }
};

TEST(Training, TellsInfiniteGradientsFromFiniteOnes) {
  LaidOutReplica one;
  one.step(1);
  EXPECT_TRUE(one.replica.gradients_are_finite());
  one.step(1e39);  // infinite in float32
  EXPECT_FALSE(one.replica.gradients_are_finite());
}

TEST(Training, MultipliesGradientsByTheLossScale) {
  LaidOutReplica one;
  one.step(1);
  std::vector<float> expected = one.gradients;
  for (float& each : expected) each *= 1024;  // a power of two changes no significant bit
  one.step(1024);
  EXPECT_EQ(one.gradients, expected);
}

TEST(Training, RefusesPrecisionsThatOnlyGpusHave) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  for (const Precision precision : {Precision::tf32, Precision::fp16}) {
    request.strategy.precision = precision;
    EXPECT_EQ(refusal(request, nullptr, "needs a GPU"), ExitCode::usage);
  }
}

TEST(Training, SaysWhyThereIsNoGpuToTrainOn) {
  const Availability gpu = gpu_training_availability();
  if (gpu.available) GTEST_SKIP() << "models can be trained on a GPU here";
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  request.strategy.on_gpu = true;
  EXPECT_EQ(refusal(request, nullptr, "cannot train on a GPU: " + gpu.reason), ExitCode::environment);
  EXPECT_NE(gpu.cure, "");
}

}  // namespace
}  // namespace hbench::training_test
