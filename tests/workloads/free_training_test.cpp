// Training by methods whose ranks have no steps in common, with ranks that are threads of this process.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "tests/workloads/training_checks.hpp"
#include "workloads/methods/step_plan.hpp"
#include "workloads/training.hpp"

namespace hbench::free_training_test {
namespace {

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
      std::vector<Rank> with = neighbours_of(rank, request.world.workers);
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

TEST(FreeTraining, OfADecentralizedMethodEndsAtTheMeanOfWhatEachMadeOfItsNeighbours) {
  for (const int workers : {2, 3, 4})
    for (const char* optimizer : {"sgd", "momentum"}) {
      TrainingRequest request = small_request("lenet5", {.workers = workers}, "ring");
      request.strategy.method = parse_method("decentralized");
      request.strategy.optimizer = parse_optimizer(optimizer);
      const std::vector<float> expected = mean_of_neighbours_by_hand(request);
      EXPECT_GT(largest_difference(expected, reference_parameters(request)), 1e-5) << "more than float order";
      for (const auto& parameters : parameters_of_all(request))
        EXPECT_LE(largest_difference(parameters, expected), 2e-6) << workers << " workers, " << optimizer;
    }
}

// Three ranks of a circle are all neighbours.
TEST(FreeTraining, OfADecentralizedMethodIsThatOfAveragesAfterOneStep) {
  TrainingRequest request = small_request("lenet5", {.workers = 3}, "ring");
  request.warmup_steps = 0;
  request.steps = 1;
  request.strategy.method = parse_method("local-sgd:1");
  const std::vector<float> averaged = parameters_of_all(request)[0];
  request.strategy.method = parse_method("decentralized");
  for (const auto& parameters : parameters_of_all(request)) EXPECT_LE(largest_difference(parameters, averaged), 2e-6);
}

TEST(FreeTraining, OfADecentralizedMethodSaysHowFarWorkersWereFromTheirMean) {
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

TEST(FreeTraining, OfServersWithoutStalenessAppliesTheMeanOfEachIteration) {
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

TEST(FreeTraining, OfOneWorkerIsPlainDescentWhateverTheMethod) {
  for (const char* method : {"decentralized", "async-ps", "ssp:0"}) {
    const bool servers = std::string_view(method) != "decentralized";
    TrainingRequest request = small_request("lenet5", {.workers = 1}, servers ? "ps" : "ring");
    request.strategy.method = parse_method(method);
    if (servers) request.world = {.workers = 1, .servers = 1, .colocated = true};
    EXPECT_EQ(parameters_of_all(request)[0], reference_parameters(request)) << method;
  }
}

// The arithmetic is LibTorch's here and ours there: it fuses a multiplication with an addition.
TEST(FreeTraining, OfOneWorkerWithAServerOfItsOwnIsPlainDescent) {
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

TEST(FreeTraining, OfAsynchronousServersGivesAllWorkersOneDigest) {
  TrainingRequest request = small_request("lenet5", {.workers = 3, .servers = 2}, "ps");
  request.strategy.method = parse_method("async-ps");
  const auto outcomes = on_all_ranks(make_thread_endpoints(5), [&](Endpoint& endpoint) {
    return train(request, &endpoint, [](const StepReport&) {}).digest;
  });
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.failure, "");
  EXPECT_NE(outcomes[0].value, 0U);
  for (const std::size_t worker : {1U, 2U}) EXPECT_EQ(outcomes[worker].value, outcomes[0].value);
}

}  // namespace
}  // namespace hbench::free_training_test
