// Real training with ranks that are threads of this process.

#include "workloads/training.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/workloads/training_cases.hpp"
#include "workloads/engine/neighbour_mean.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

void expect_as_one_worker(const TrainingRequest& request) {
  const std::vector<float> expected = reference_parameters(request);
  const auto outcomes = on_all_ranks(make_thread_endpoints(request.world.ranks()),
                                     [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
  for (int rank = 0; rank < request.world.ranks(); ++rank) {
    const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_EQ(outcome.failure, "") << "rank " << rank;
    if (rank >= request.world.workers) continue;
    EXPECT_LE(largest_difference(outcome.value, expected), tolerance(request)) << "rank " << rank;
    EXPECT_EQ(outcome.value, outcomes[0].value) << "rank " << rank;
  }
}

struct Variant {
  const char* algorithm;
  const char* placement;
  World world;
};

constexpr Variant kVariants[] = {
    {"ring", "greedy", {.workers = 1}},
    {"ring", "greedy", {.workers = 2}},
    {"ring", "greedy", {.workers = 3}},
    {"ps", "greedy", {.workers = 2, .servers = 1}},
    {"ps", "sliced", {.workers = 2, .servers = 2}},
    {"ps", "greedy", {.workers = 2, .servers = 2, .colocated = true}},
    {"ps", "sliced", {.workers = 3, .servers = 2, .colocated = true}},
    {"ps", "sliced", {.workers = 3, .servers = 1, .group = 3}},
};

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

TEST(Training, WithShardedStateEndsWhereOneWorkerWithAllSamplesDoes) {
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

/// The parameters that each rank ends with.
std::vector<std::vector<float>> parameters_of_all(const TrainingRequest& request) {
  const auto outcomes = on_all_ranks(make_thread_endpoints(request.world.ranks()),
                                     [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
  std::vector<std::vector<float>> all;
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.failure, "");
    all.push_back(outcome.value);
  }
  return all;
}

// A sum of two numbers has one rounding, wherever it is made.
TEST(Training, WithShardedStateOnTwoWorkersEndsAtTheBitsOfTheSynchronousOne) {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adam", "adamw"}) {
    TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
    request.strategy.optimizer = parse_optimizer(optimizer);
    const auto synchronous = parameters_of_all(request);
    request.strategy.method = parse_method("zero:1");
    EXPECT_EQ(parameters_of_all(request), synchronous) << optimizer;
  }
}

// Adam divides by what may be small: with its usual epsilon a rounding of a gradient of 0 would be a step.
constexpr const char* kOptimizers[] = {"momentum", "nesterov:0.8", "adam:0.9:0.999:0.001", "adamw:0.9:0.999:0.001:0.1"};

TEST(Training, WithEveryOptimizerEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const char* optimizer : kOptimizers)
    for (const int workers : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} {}", optimizer, workers));
      TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
      request.strategy.optimizer = parse_optimizer(optimizer);
      expect_as_one_worker(request);
    }
}

TEST(Training, WithShardedStateOfEveryOptimizerEndsWhereOneWorkerDoes) {
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

TEST(Training, WithEveryOptimizerDiffersFromPlainDescent) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, nullptr);
  const std::vector<float> plain = reference_parameters(request);
  for (const char* optimizer : kOptimizers) {
    request.strategy.optimizer = parse_optimizer(optimizer);
    EXPECT_GT(largest_difference(reference_parameters(request), plain), 1e-3) << optimizer;
  }
}

TEST(Training, WithAveragesAfterEveryStepEndsWhereOneWorkerWithAllSamplesDoes) {
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

TEST(Training, OfLocalStepsEndsAtTheMeanOfWorkersThatTrainedAlone) {
  const TrainingRequest request = one_period("local-sgd:3");
  const std::vector<float> mean = mean_of_workers_alone(request);
  for (const auto& parameters : parameters_of_all(request)) EXPECT_LE(largest_difference(parameters, mean), 2e-6);
}

// The first outer step of Nesterov's SGD goes by rate (1 + momentum) times the mean change.
TEST(Training, OfDilocoGoesBeyondTheMeanOfWorkersThatTrainedAlone) {
  const TrainingRequest request = one_period("diloco:3:1:0:0:0.7:0.9");
  const std::vector<float> before = make_replica(request, 0).parameters();
  std::vector<float> expected = mean_of_workers_alone(request);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = before[i] + 0.7F * 1.9F * (expected[i] - before[i]);
  EXPECT_GT(largest_difference(expected, before), 1e-3);
  for (const auto& parameters : parameters_of_all(request)) EXPECT_LE(largest_difference(parameters, expected), 2e-6);
}

TEST(Training, OfPostLocalSgdIsSynchronousUntilItStarts) {
  const auto after_eight_iterations = [](const char* method) {
    TrainingRequest request = small_request("lenet5", {.workers = 2}, "ring");
    request.strategy.method = parse_method(method);
    request.warmup_steps = 6;
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

TEST(Training, OfDilocoWithAnOuterRateOfOneIsThatOfLocalSteps) {
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

TEST(Training, OfDilocoAfterEveryStepEndsWhereOneWorkerWithAllSamplesDoes) {
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(
        fmt::format("{} {} workers {} servers", variant.algorithm, variant.world.workers, variant.world.servers));
    TrainingRequest request = small_request("lenet5", variant.world, variant.algorithm);
    request.strategy.placement = &find_entry(placements(), variant.placement, "placement");
    request.strategy.method = parse_method("diloco:1:1:0:0:1:0");
    expect_as_one_worker(request);
  }
}

TEST(Training, OfDilocoAloneTakesOuterStepsToo) {
  TrainingRequest request = small_request("lenet5", {.workers = 1}, "ring");
  const std::vector<float> plain = reference_parameters(request);
  request.strategy.method = parse_method("diloco:1:1:0:0:0.5:0");
  EXPECT_GT(largest_difference(parameters_of_all(request)[0], plain), 1e-4);
}

/// A worker's replica whose parameters lie where a test reaches them.
struct OpenWorker {
  OpenWorker(const TrainingRequest& request, int rank) : replica(make_replica(request, rank)) {
    const GradientLayout layout = replica.record_layout();
    gradients.resize(static_cast<std::size_t>(layout.total()));
    parameters.resize(gradients.size());
    replica.lay_out(layout, {.gradients = gradients, .parameters = parameters});
  }

  std::vector<float> gradients, parameters;
  Replica replica;
};

/// Streaming DiLoCo as torchft has it, of fragments that the plan has cut, by plain outer SGD: deltas are taken so many
/// iterations before their mean is, and beside them ranks go on. Returns what outer updates start from at the end.
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

TEST(Training, OfDilocoWithFragmentsIsStreamedAsTorchftDoes) {
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

TEST(Training, OfDilocoMayCodeItsDeltas) {
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

/// Each worker's gradient is of its own parameters, and is applied to the mean of its own and its neighbours'.
std::vector<float> mean_of_neighbours_by_hand(const TrainingRequest& request) {
  std::vector<std::unique_ptr<OpenWorker>> workers;
  for (int rank = 0; rank < request.world.workers; ++rank)
    workers.push_back(std::make_unique<OpenWorker>(request, rank));
  const auto mean_of = [&](const std::vector<Rank>& ranks) {
    std::vector<float> mean(workers[0]->parameters.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      double sum = 0;
      for (const Rank rank : ranks) sum += workers[static_cast<std::size_t>(rank)]->parameters[i];
      mean[i] = static_cast<float>(sum / static_cast<double>(ranks.size()));
    }
    return mean;
  };
  for (int step = 0; step < request.warmup_steps + request.steps; ++step) {
    std::vector<std::vector<float>> means;
    for (int rank = 0; rank < request.world.workers; ++rank) {
      std::vector<Rank> with =
          peers_of(graph_of(request.strategy.method.plan(true)), rank, request.world.workers, step).from;
      with.push_back(rank);
      means.push_back(mean_of(with));
    }
    for (std::size_t rank = 0; rank < workers.size(); ++rank) {
      Replica& replica = workers[rank]->replica;
      replica.forward(step);
      replica.backward({});
      std::ranges::copy(means[rank], workers[rank]->parameters.begin());
      replica.apply(request.rate(), 1);
    }
  }
  std::vector<Rank> all(workers.size());
  std::iota(all.begin(), all.end(), 0);
  std::ranges::copy(mean_of(all), workers[0]->parameters.begin());
  return workers[0]->replica.parameters();
}

/// Three iterations by gradients, and two by momenta. With Adam's usual epsilon a variance of three iterations that
/// stays where it is near 0 makes steps of any length.
TrainingRequest request_by_momenta(const char* method, int workers, const char* compressor) {
  TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
  request.strategy.method = parse_method(method);
  request.strategy.optimizer = parse_optimizer("adam:0.9:0.999:0.1");
  request.strategy.compressor = parse_compressor(compressor);
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

TEST(Training, ByMomentaIsAdamBitForBitUntilItStarts) {
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

TEST(Training, ByMomentaAsTheyAreIsAdamWithAVarianceThatStays) {
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
TEST(Training, ByMomentaThatAreCodedStaysNearThoseThatAreNot) {
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

TEST(Training, OfADecentralizedMethodEndsAtTheMeanOfWhatEachMadeOfItsNeighbours) {
  for (const auto& [method, workers] : {std::pair{"decentralized", 2},
                                        {"decentralized", 3},
                                        {"decentralized", 4},
                                        {"exponential", 3},
                                        {"exponential", 4}})
    for (const char* optimizer : {"sgd", "momentum"}) {
      TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
      request.strategy.method = parse_method(method);
      request.strategy.optimizer = parse_optimizer(optimizer);
      const std::vector<float> expected = mean_of_neighbours_by_hand(request);
      EXPECT_GT(largest_difference(expected, reference_parameters(request)), 1e-5) << "more than float order";
      for (const auto& parameters : parameters_of_all(request))
        EXPECT_LE(largest_difference(parameters, expected), 2e-6) << workers << " workers, " << optimizer;
    }
}

// Three ranks of a circle are all neighbours.
TEST(Training, OfADecentralizedMethodIsThatOfAveragesAfterOneStep) {
  TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
  request.warmup_steps = 0;
  request.steps = 1;
  request.strategy.method = parse_method("local-sgd:1");
  const std::vector<float> averaged = parameters_of_all(request)[0];
  request.strategy.method = parse_method("decentralized");
  for (const auto& parameters : parameters_of_all(request)) EXPECT_LE(largest_difference(parameters, averaged), 2e-6);
}

TEST(Training, OfADecentralizedMethodSaysHowFarWorkersWereFromTheirMean) {
  TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
  request.strategy.method = parse_method("decentralized");
  const auto outcomes = on_all_ranks(make_thread_endpoints(3), [&](Endpoint& endpoint) {
    return train(request, &endpoint, [](const StepReport&) {}).consensus_distance.value_or(0);
  });
  EXPECT_GT(outcomes[0].value, 1e-6);
  EXPECT_LT(outcomes[0].value, 1e-1);
}

/// A replica that counts its iterations.
class Counted final : public Compute {
 public:
  explicit Counted(Replica& of) : of_(of) {}
  GradientLayout record_layout() override { return of_.record_layout(); }
  void lay_out(const GradientLayout& layout, const ModelMemory& memory) override { of_.lay_out(layout, memory); }
  Device& device() override { return of_.device(); }
  void warm_up() override { of_.warm_up(); }
  void add_gradients(bool adds) override { of_.add_gradients(adds); }
  void leave_momenta(double divisor) override { of_.leave_momenta(divisor); }
  void forward(int batch) override {
    ++iterations;
    of_.forward(batch);
  }
  void backward(const std::function<void(int)>& ready, double scale) override { of_.backward(ready, scale); }
  bool gradients_are_finite() const override { return of_.gradients_are_finite(); }
  void apply(double rate, double divisor) override { of_.apply(rate, divisor); }
  void apply_momenta(double rate, double divisor) override { of_.apply_momenta(rate, divisor); }
  void apply_parts(double rate, double divisor, std::span<const ElementRange> parts) override {
    of_.apply_parts(rate, divisor, parts);
  }
  void begin_outer(const OuterUpdate& update, const std::vector<std::vector<int>>& fragments) override {
    of_.begin_outer(update, fragments);
  }
  void take_deltas(int fragment) override { of_.take_deltas(fragment); }
  void apply_deltas(int fragment, int ranks) override { of_.apply_deltas(fragment, ranks); }
  double loss() const override { return of_.loss(); }
  std::uint64_t digest() const override { return of_.digest(); }

  int iterations = 0;

 private:
  Replica& of_;
};

/// What workers with servers end with, and how many iterations each has done.
struct WithServers {
  std::vector<std::vector<float>> parameters;
  std::vector<int> iterations;
};

WithServers train_with_servers(const TrainingRequest& request) {
  const auto workers = static_cast<std::size_t>(request.world.workers);
  WithServers all{std::vector<std::vector<float>>(workers), std::vector<int>(workers)};
  const auto outcomes = on_all_ranks(make_thread_endpoints(request.world.ranks()), [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    if (rank >= workers) {
      serve(request, endpoint);
      return 0;
    }
    Replica replica = make_replica(request, static_cast<int>(rank));
    Counted counted(replica);
    train_together(counted, request, endpoint, [](const StepReport&) {});
    all.parameters[rank] = replica.parameters();
    all.iterations[rank] = counted.iterations;
    return 0;
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.failure, "");
  return all;
}

/// Where servers of no staleness end: in each iteration all workers that have not left compute gradients of the same
/// parameters.
std::vector<float> by_hand_without_staleness(const TrainingRequest& request, const std::vector<int>& iterations) {
  std::vector<std::unique_ptr<OpenWorker>> workers;
  for (int rank = 0; rank < request.world.workers; ++rank)
    workers.push_back(std::make_unique<OpenWorker>(request, rank));
  std::vector<float> parameters = workers[0]->parameters;
  for (int i = 0; i < std::ranges::max(iterations); ++i) {
    std::vector<double> sum(parameters.size());
    for (std::size_t rank = 0; rank < workers.size(); ++rank) {
      if (iterations[rank] <= i) continue;
      OpenWorker& worker = *workers[rank];
      std::ranges::copy(parameters, worker.parameters.begin());
      worker.replica.forward(i);
      worker.replica.backward({});
      for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += worker.gradients[at];
    }
    for (std::size_t at = 0; at < sum.size(); ++at)
      parameters[at] -= static_cast<float>(request.rate() * sum[at] / request.world.workers);
  }
  std::ranges::copy(parameters, workers[0]->parameters.begin());
  return workers[0]->replica.parameters();
}

TEST(Training, OfServersWithoutStalenessAppliesTheMeanOfEachIteration) {
  for (const Variant& variant : kVariants) {
    if (variant.world.servers == 0 || variant.world.group > 1) continue;
    for (const char* fusion : {"none", "horovod", "ddp"})
      for (const bool overlap : {true, false}) {
        SCOPED_TRACE(fmt::format("{} workers {} servers {}", variant.world.workers, variant.world.servers, fusion));
        TrainingRequest request = small_request("lenet5", variant.world, "ps");
        request.strategy.placement = &find_entry(placements(), variant.placement, "placement");
        request.strategy.method = parse_method("ssp:0");
        request.strategy.fusion = parse_fusion(fusion);
        request.strategy.overlap = overlap;
        const WithServers trained = train_with_servers(request);
        const std::vector<float> expected = by_hand_without_staleness(request, trained.iterations);
        for (const auto& parameters : trained.parameters) {
          EXPECT_LE(largest_difference(parameters, expected), 5e-6);
          EXPECT_EQ(parameters, trained.parameters[0]);
        }
      }
  }
}

/// As many steps of one worker without an engine.
std::vector<float> alone(TrainingRequest request, int iterations) {
  request.warmup_steps = 0;
  request.steps = iterations;
  return reference_parameters(request);
}

TEST(Training, OfOneWorkerIsPlainDescentWhateverTheMethod) {
  for (const char* method : {"decentralized", "async-ps", "ssp:0"}) {
    const bool servers = std::string_view(method) != "decentralized";
    TrainingRequest request = small_request("lenet5", {.workers = 1}, servers ? "ps" : "ring");
    request.strategy.method = parse_method(method);
    if (servers) request.world = {.workers = 1, .servers = 1, .colocated = true};
    EXPECT_EQ(parameters_of_all(request)[0], reference_parameters(request)) << method;
  }
}

// The arithmetic is LibTorch's here and ours there: it fuses a multiplication with an addition.
TEST(Training, OfOneWorkerWithAServerOfItsOwnIsPlainDescent) {
  for (const char* method : {"async-ps", "ssp:3"})
    for (const char* optimizer : {"sgd", "momentum", "nesterov:0.8", "adam:0.9:0.999:0.001"}) {
      TrainingRequest request = small_request("lenet5", {.workers = 1, .servers = 2}, "ps");
      request.strategy.method = parse_method(method);
      request.strategy.optimizer = parse_optimizer(optimizer);
      const WithServers trained = train_with_servers(request);
      EXPECT_LE(largest_difference(trained.parameters[0], alone(request, trained.iterations[0])), tolerance(request))
          << method << ' ' << optimizer;
    }
}

TEST(Training, OfAsynchronousServersGivesAllWorkersOneDigest) {
  TrainingRequest request = small_request("lenet5", {.workers = 3, .servers = 2}, "ps");
  request.strategy.method = parse_method("async-ps");
  const auto outcomes = on_all_ranks(make_thread_endpoints(5), [&](Endpoint& endpoint) {
    return train(request, &endpoint, [](const StepReport&) {}).digest;
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.failure, "");
  EXPECT_NE(outcomes[0].value, 0U);
  for (const std::size_t worker : {1U, 2U}) EXPECT_EQ(outcomes[worker].value, outcomes[0].value);
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
  request.delay = {.rank = 1, .time = Seconds(0.02)};
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
      EXPECT_GE(backward.duration(), rank == 1 ? request.delay.time : Seconds(0));
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
  EXPECT_EQ(refusal(request, endpoints[0].get(), "cannot be combined with fp16"), ExitCode::usage);
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
}  // namespace hbench
