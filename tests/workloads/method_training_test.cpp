// Training by methods whose ranks go through their steps together, with ranks that are threads of this process.

#include <fmt/format.h>

#include "tests/support/matchers.hpp"
#include "tests/workloads/training_checks.hpp"

namespace hbench::method_training_test {
namespace {

TEST(MethodTraining, WithShardedStateEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const char* method : {"zero:1", "zero:2"})
    for (const auto& [algorithm, workers] :
         {std::pair("ring", 2), std::pair("ring", 3), std::pair("direct", 3), std::pair("halving-doubling", 4)})
      for (const char* fusion : {"none", "threshold", "horovod", "byteps:4KB:10KB"})
        for (const bool overlap : {true, false}) {
          SCOPED_TRACE(fmt::format("{} {} {} {} {}", method, algorithm, workers, fusion, overlap));
          TrainingRequest request = small_request("lenet5", {.workers = workers}, algorithm);
          request.strategy.method = parse_method(method);
          request.strategy.fusion = parse_fusion(fusion);
          request.strategy.overlap = overlap;
          expect_as_one_worker(request);
        }
}

// A sum of two numbers has one rounding, wherever it is made.
TEST(MethodTraining, WithShardedStateOnTwoWorkersEndsAtTheBitsOfTheSynchronousOne) {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adam", "adamw"}) {
    TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
    request.strategy.optimizer = parse_optimizer(optimizer);
    const auto synchronous = parameters_of_all(request);
    request.strategy.method = parse_method("zero:1");
    EXPECT_EQ(parameters_of_all(request), synchronous) << optimizer;
  }
}

TEST(MethodTraining, WithShardedStateOfEveryOptimizerEndsWhereOneWorkerDoes) {
  for (const char* optimizer : kOptimizers)
    for (const char* method : {"zero:1", "zero:2"})
      for (const auto& [algorithm, workers] : {std::pair("ring", 3), std::pair("halving-doubling", 4)})
        for (const char* fusion : {"none", "byteps:4KB:10KB"}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", optimizer, method, algorithm, fusion));
          TrainingRequest request = small_request("lenet5", {.workers = workers}, algorithm);
          request.strategy.method = parse_method(method);
          request.strategy.optimizer = parse_optimizer(optimizer);
          request.strategy.fusion = parse_fusion(fusion);
          expect_as_one_worker(request);
        }
}

TEST(MethodTraining, WithAveragesAfterEveryStepEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(
        fmt::format("{} workers {} servers {}", variant.algorithm, variant.world.workers, variant.world.servers));
    TrainingRequest request = small_request("lenet5", variant.world, variant.algorithm);
    request.strategy.placement = &find_entry(placements(), variant.placement, "placement");
    request.strategy.method = parse_method("local-sgd:1");
    expect_as_one_worker(request);
  }
}

/// The mean of the parameters of all workers after three steps of each alone.
std::vector<float> mean_of_workers_alone(TrainingRequest request) {
  request.steps = 3;
  std::vector<float> mean;
  for (int rank = 0; rank < request.world.workers; ++rank) {
    Replica alone = make_replica(request, rank);
    train_alone(alone, request, [](const StepReport&) {});
    const std::vector<float> parameters = alone.parameters();
    mean.resize(parameters.size());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += parameters[i] / static_cast<float>(request.world.workers);
  }
  return mean;
}

/// A cycle of a method whose period is three steps.
TrainingRequest one_period(const char* method) {
  TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
  request.strategy.method = parse_method(method);
  request.warmup_steps = 0;
  request.steps = 1;
  return request;
}

TEST(MethodTraining, OfLocalStepsEndsAtTheMeanOfWorkersThatTrainedAlone) {
  const TrainingRequest request = one_period("local-sgd:3");
  const std::vector<float> mean = mean_of_workers_alone(request);
  for (const auto& parameters : parameters_of_all(request)) EXPECT_LE(largest_difference(parameters, mean), 2e-6);
}

// The first outer step of Nesterov's SGD goes by rate (1 + momentum) times the mean change.
TEST(MethodTraining, OfDilocoGoesBeyondTheMeanOfWorkersThatTrainedAlone) {
  const TrainingRequest request = one_period("diloco:3:1:0:0:0.7:0.9");
  const std::vector<float> before = make_replica(request, 0).parameters();
  std::vector<float> expected = mean_of_workers_alone(request);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = before[i] + 0.7F * 1.9F * (expected[i] - before[i]);
  EXPECT_GT(largest_difference(expected, before), 1e-3);
  for (const auto& parameters : parameters_of_all(request)) EXPECT_LE(largest_difference(parameters, expected), 2e-6);
}

TEST(MethodTraining, OfPostLocalSgdIsSynchronousUntilItStarts) {
  const auto after_eight_iterations = [](const char* method) {
    TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
    request.strategy.method = parse_method(method);
    request.warmup_steps = 6 - request.strategy.method.plan(true).start();  // which comes before it
    const auto all = parameters_of_all(request);
    EXPECT_EQ(all[0], all[1]) << method;
    return all[0];
  };
  const std::vector<float> synchronous = after_eight_iterations("synchronous");
  EXPECT_LE(largest_difference(after_eight_iterations("post-local-sgd:1:6"), synchronous), 2e-6);
  const std::vector<float> late = after_eight_iterations("post-local-sgd:2:6");
  EXPECT_GT(largest_difference(late, synchronous), 1e-5) << "the last two are local";
  EXPECT_GT(largest_difference(late, after_eight_iterations("local-sgd:2")), 1e-5) << "the first six are not";
}

TEST(MethodTraining, OfDilocoWithAnOuterRateOfOneIsThatOfLocalSteps) {
  for (const int workers : {2, 3})
    for (const char* optimizer : {"sgd", "momentum", "adam:0.9:0.999:0.001"}) {
      TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
      request.strategy.optimizer = parse_optimizer(optimizer);
      request.strategy.method = parse_method("local-sgd:2");
      const std::vector<float> averaged = parameters_of_all(request)[0];
      request.strategy.method = parse_method("diloco:2:1:0:0:1:0");
      for (const auto& parameters : parameters_of_all(request))
        EXPECT_LE(largest_difference(parameters, averaged), 2e-6) << workers << " workers, " << optimizer;
    }
}

TEST(MethodTraining, OfDilocoAfterEveryStepEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(
        fmt::format("{} {} workers {} servers", variant.algorithm, variant.world.workers, variant.world.servers));
    TrainingRequest request = small_request("lenet5", variant.world, variant.algorithm);
    request.strategy.placement = &find_entry(placements(), variant.placement, "placement");
    request.strategy.method = parse_method("diloco:1:1:0:0:1:0");
    expect_as_one_worker(request);
  }
}

TEST(MethodTraining, OfDilocoAloneTakesOuterStepsToo) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, "ring");
  const std::vector<float> plain = reference_parameters(request);
  request.strategy.method = parse_method("diloco:1:1:0:0:0.5:0");
  EXPECT_GT(largest_difference(parameters_of_all(request)[0], plain), 1e-4);
}

/// Streaming DiLoCo as torchft has it, of fragments that the plan has cut, by plain outer SGD: between the deltas of a
/// fragment and their mean ranks go on. Returns what outer updates start from at the end.
std::vector<float> fragments_by_hand(const TrainingRequest& request, int iterations) {
  std::vector<std::unique_ptr<OpenWorker>> workers;
  for (int rank = 0; rank < request.world.workers; ++rank)
    workers.push_back(std::make_unique<OpenWorker>(request, rank));
  const GradientLayout layout = make_replica(request, 0).record_layout();
  const auto offsets = layout.offsets();
  const std::vector<double>& values = request.strategy.method.values;
  const auto period = static_cast<int>(values[0]), fragments = static_cast<int>(values[1]);
  const auto delay = static_cast<int>(values[2]);
  const std::vector<std::vector<int>> tensors = request.strategy.method.plan(true, {.elements = layout.elements}).units;
  std::vector<float> original = workers[0]->parameters, mean(original.size());
  const auto for_all_of = [&](int fragment, auto use) {
    for (const int tensor : tensors[static_cast<std::size_t>(fragment)])
      for (auto i = offsets[static_cast<std::size_t>(tensor)]; i < offsets[static_cast<std::size_t>(tensor) + 1]; ++i)
        use(static_cast<std::size_t>(i));
  };
  for (int step = 1; step <= iterations; ++step) {
    for (const auto& worker : workers) {
      worker->replica.forward(step - 1);
      worker->replica.backward({});
      worker->replica.apply(request.rate(), 1);
    }
    for (int fragment = 0; fragment < fragments; ++fragment) {
      const int turn = (fragment + 1) * period / fragments % period;
      if ((step + delay) % period == turn)
        for_all_of(fragment, [&](std::size_t i) {
          mean[i] = 0;
          for (const auto& worker : workers)
            mean[i] += (original[i] - worker->parameters[i]) / static_cast<float>(workers.size());
        });
      if (step % period == turn)
        for_all_of(fragment, [&](std::size_t i) {
          original[i] -= static_cast<float>(values[4]) * mean[i];
          for (const auto& worker : workers)
            worker->parameters[i] = original[i] + static_cast<float>(values[3]) * (worker->parameters[i] - original[i]);
        });
    }
  }
  std::ranges::copy(original, workers[0]->parameters.begin());
  return workers[0]->replica.parameters();
}

TEST(MethodTraining, OfDilocoWithFragmentsIsStreamedAsTorchftDoes) {
  for (const char* method : {"diloco:4:2:0:0:0.7:0", "diloco:4:2:1:0:0.7:0", "diloco:4:1:2:0.5:1:0",
                             "diloco:6:3:1:0.5:0.7:0", "diloco:5:2:1:1:0.7:0"}) {
    SCOPED_TRACE(method);
    TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
    request.strategy.method = parse_method(method);
    request.warmup_steps = 0;
    const int period = static_cast<int>(request.strategy.method.values[0]);
    request.steps = 2 * period;
    const auto outcomes = on_all_ranks(make_thread_endpoints(3), [&](Endpoint& endpoint) {
      Replica replica = make_replica(request, endpoint.transport().rank());
      train_together(replica, request, endpoint, [](const StepReport&) {});
      return replica.agreed();
    });
    const std::vector<float> expected = fragments_by_hand(request, request.steps);
    EXPECT_GT(largest_difference(expected, make_replica(request, 0).parameters()), 1e-3);
    for (const auto& outcome : outcomes) {
      EXPECT_EQ(outcome.failure, "");
      EXPECT_EQ(outcome.value, outcomes[0].value) << "ranks agree on what outer updates start from";
      EXPECT_LE(largest_difference(outcome.value, expected), 2e-6);
    }
  }
}

TEST(MethodTraining, OfDilocoMayCodeItsDeltas) {
  const auto trained = [](const char* method, const char* compressor) {
    TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
    request.strategy.method = parse_method(method);
    request.strategy.compressor = parse_compressor(compressor);
    const auto all = parameters_of_all(request);
    EXPECT_EQ(all[0], all[1]) << method << ' ' << compressor;
    return all[0];
  };
  for (const char* method : {"diloco:2:1:0:0:0.7:0", "diloco:2:1:1:0:0.7:0"}) {
    const std::vector<float> plain = trained(method, "none");
    EXPECT_LE(largest_difference(trained(method, "fp16"), plain), 1e-4) << method;
    EXPECT_GT(largest_difference(trained(method, "fp16"), plain), 0) << method;
    EXPECT_LE(largest_difference(trained(method, "powersgd:1024"), plain), 1e-4) << "of full rank";
  }
}

/// Three iterations by gradients, and two by momenta. With Adam's usual epsilon a variance of three iterations that
/// stays where it is near 0 makes steps of any length.
TrainingRequest request_by_momenta(const char* method, int workers, const char* compressor) {
  TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
  request.strategy.method = parse_method(method);
  request.strategy.optimizer = parse_optimizer("adam:0.9:0.999:0.1");
  request.strategy.compressor = parse_compressor(compressor);
  request.warmup_steps = 0;
  request.steps = 2;
  return request;
}

/// The parameters of a worker after each of its iterations, which are as many on all.
std::vector<std::vector<float>> parameters_by_iteration(const TrainingRequest& request) {
  const auto outcomes = on_all_ranks(make_thread_endpoints(request.world.ranks()), [&](Endpoint& endpoint) {
    Replica replica = make_replica(request, endpoint.transport().rank());
    std::vector<std::vector<float>> all;
    train_together(replica, request, endpoint, [&](const StepReport&) { all.push_back(replica.parameters()); });
    return all;
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.failure, "");
    EXPECT_EQ(outcome.value, outcomes[0].value) << "replicas stay equal";
  }
  return outcomes[0].value;
}

/// Adam by its formula in double precision, with the mean of all workers' gradients; the variance stays from `frozen`
/// iterations on. \param micro_batches that each adds up
std::vector<float> adam_by_hand(const TrainingRequest& request, int iterations, int frozen) {
  const double beta1 = 0.9, beta2 = 0.999, epsilon = 0.1;
  std::vector<std::unique_ptr<OpenWorker>> workers;
  for (int rank = 0; rank < request.world.workers; ++rank)
    workers.push_back(std::make_unique<OpenWorker>(request, rank));
  std::vector<double> x(workers[0]->parameters.begin(), workers[0]->parameters.end());
  std::vector<double> mean(x.size()), square(x.size()), gradient(x.size());
  for (int step = 1; step <= iterations; ++step) {
    std::ranges::fill(gradient, 0);
    for (const auto& worker : workers)
      for (int batch = 0; batch < request.micro_batches; ++batch) {
        worker->replica.forward((step - 1) * request.micro_batches + batch);
        worker->replica.backward({});
        for (std::size_t i = 0; i < x.size(); ++i)
          gradient[i] += worker->gradients[i] / static_cast<double>(request.micro_batches * request.world.workers);
      }
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean[i] = beta1 * mean[i] + (1 - beta1) * gradient[i];
      if (step <= frozen) square[i] = beta2 * square[i] + (1 - beta2) * gradient[i] * gradient[i];
      const double variance = square[i] / (1 - std::pow(beta2, std::min(step, frozen)));
      x[i] -= request.rate() * mean[i] / (1 - std::pow(beta1, step)) / (std::sqrt(variance) + epsilon);
    }
    for (const auto& worker : workers) std::ranges::copy(x, worker->parameters.begin());
  }
  return workers[0]->replica.parameters();
}

TEST(MethodTraining, ByMomentaIsAdamBitForBitUntilItStarts) {
  for (const char* method : {"1-bit-adam:3", "qadam:3"})
    for (const int workers : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} {}", method, workers));
      TrainingRequest request = request_by_momenta(method, workers, "none");
      request.strategy.compressor = parse_compressor(request.strategy.method.method->compressor);
      const auto by_momenta = parameters_by_iteration(request);
      request.strategy.method = parse_method("synchronous");
      request.strategy.compressor = parse_compressor("none");
      request.warmup_steps = 3;
      const auto plain = parameters_by_iteration(request);
      ASSERT_THAT(by_momenta, SizeIs(5));
      ASSERT_THAT(plain, SizeIs(5));
      for (std::size_t step = 0; step < 3; ++step) EXPECT_EQ(by_momenta[step], plain[step]) << step;
      EXPECT_NE(by_momenta[3], plain[3]);
    }
}

TEST(MethodTraining, ByMomentaAsTheyAreIsAdamWithAVarianceThatStays) {
  for (const int workers : {1, 2, 3})
    for (const int micro_batches : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} workers, {} micro-batches", workers, micro_batches));
      TrainingRequest request = request_by_momenta("qadam:3", workers, "none");
      request.micro_batches = micro_batches;
      const auto trained = parameters_by_iteration(request);
      ASSERT_THAT(trained, SizeIs(5));
      const std::vector<float> expected = adam_by_hand(request, 5, 3);
      EXPECT_LE(largest_difference(trained[4], expected), tolerance(request));
      EXPECT_GT(largest_difference(adam_by_hand(request, 5, 5), expected), 10 * tolerance(request));
    }
}

// Eight bits lose little in two steps; what one bit loses comes with the next.
TEST(MethodTraining, ByMomentaThatAreCodedStaysNearThoseThatAreNot) {
  for (const auto& [method, most] : {std::pair("1-bit-adam:3", 1.0), std::pair("qadam:3", 0.1)})
    for (const int workers : {1, 2, 3})
      for (const char* fusion : {"none", "ddp"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", method, workers, fusion));
        TrainingRequest request = request_by_momenta(method, workers, "none");
        request.strategy.fusion = parse_fusion(fusion);
        const auto exact = parameters_by_iteration(request);
        const CompressorChoice compressor = parse_compressor(request.strategy.method.method->compressor);
        request.strategy.compressor = compressor;
        const auto coded = parameters_by_iteration(request);
        const double moved = largest_difference(exact[4], exact[2]), lost = largest_difference(exact[4], coded[4]);
        EXPECT_EQ(lost > 0, workers > 1 || compressor.error_feedback) << "alone, nothing travels by hops";
        EXPECT_LT(lost, most * moved);
      }
}

}  // namespace
}  // namespace hbench::method_training_test
