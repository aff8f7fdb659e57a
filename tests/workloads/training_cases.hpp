#pragma once

// What the tests of training with threads and with MPI share.

#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/engine/digest.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/engine/worker.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// What each rank returned or, if it failed, why.
template <class T>
struct Outcome {
  T value{};
  std::string failure;
  ExitCode code = ExitCode::good;
};

/// Runs `body(endpoint)` on ranks that are threads.
template <class Body>
auto on_all_ranks(std::vector<std::unique_ptr<Endpoint>> endpoints, Body body) {
  using Value = decltype(body(std::declval<Endpoint&>()));
  std::vector<Outcome<Value>> outcomes(endpoints.size());
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < endpoints.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        outcomes[rank].value = body(*endpoints[rank]);
      } catch (const Error& error) {
        outcomes[rank].failure = error.what();
        outcomes[rank].code = error.code();
      }
    });
  }
  threads.clear();
  return outcomes;
}

/// Two samples per worker, three steps, so fast a descent that a wrong gradient shows.
inline TrainingRequest small_request(const char* model, World world, const char* algorithm) {
  TrainingRequest request;
  request.model = model;
  request.batch = 2;
  request.image_size = 32;
  request.world = world;
  request.freeze_batch_norm = true;
  request.strategy.fusion = parse_fusion("none");
  request.strategy.placement = &find_entry(placements(), "greedy", "placement");
  if (algorithm != nullptr) request.strategy.algorithm = parse_algorithm_rule(algorithm);
  request.warmup_steps = 1;
  request.steps = 2;
  request.learning_rate = 0.05;
  return request;
}

inline Replica make_replica(const TrainingRequest& request, int rank) {
  const ReplicaOptions options{.batch = request.batch,
                               .image_size = request.image_size,
                               .seed = request.seed,
                               .rank = rank,
                               .workers = request.world.workers,
                               .freeze_batch_norm = request.freeze_batch_norm,
                               .gpu = request.strategy.on_gpu ? std::optional(gpu_of(rank)) : std::nullopt,
                               .precision = request.strategy.precision,
                               .channels_last = request.strategy.on_gpu,
                               .optimizer = request.strategy.trained_with()};
  if (request.own) return {*request.own, options};
  return {find_entry(models(), request.model, "model"), options};
}

/// The parameters that one worker ends with when it sees all samples of the job.
inline std::vector<float> reference_parameters(TrainingRequest request) {
  request.batch *= request.world.workers * request.micro_batches;
  request.micro_batches = 1;
  request.world = {.workers = 1};
  Replica replica = make_replica(request, 0);
  train_alone(replica, request, [](const StepReport&) {});
  return replica.parameters();
}

/// The parameters this rank ends with; none for a dedicated server. \param sent as `TrainingEnd::sent`
inline std::vector<float> trained_parameters(const TrainingRequest& request, Endpoint& endpoint,
                                             std::optional<Moved>* sent = nullptr) {
  const Rank rank = endpoint.transport().rank();
  if (rank >= request.world.workers) {
    serve(request, endpoint);
    return {};
  }
  Replica replica = make_replica(request, rank);
  const TrainingEnd end = train_together(replica, request, endpoint, [](const StepReport&) {});
  if (sent != nullptr) *sent = end.sent;
  compare_digests(replica.digest(), request, endpoint.control());
  return replica.parameters();
}

inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    // Not std::max: a NaN must show.
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

/// Sums of another order differ by roundings; half precision loses 2^-11 of a gradient.
inline double tolerance(const TrainingRequest& request) {
  if (!request.strategy.compressor.verbatim()) return 2e-4;
  // Adam divides by the root of a mean square, so that what float order leaves of a gradient near 0 moves a parameter
  // as a large one would; how much it leaves depends on the kernels that LibTorch has for the processor.
  return request.strategy.trained_with().text().starts_with("adam") ? 1e-5 : 2e-6;
}

}  // namespace hbench
