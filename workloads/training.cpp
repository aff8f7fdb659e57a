#include "workloads/training.hpp"

#include <fmt/format.h>

#include "collectives/base/table.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/engine/digest.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/engine/worker.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

void require(bool holds, const std::string& message, const std::string& hint = {}) {
  if (!holds) throw Error(ExitCode::usage, message, hint);
}

void check_images(const ModelEntry& model, int image_size) {
  require(image_size >= model.smallest_image,
          fmt::format("{} needs images of {} pixels and more, not {}", model.name, model.smallest_image, image_size),
          fmt::format("give an image size of {} or more", model.smallest_image));
}

void check_strategy(const TrainingRequest& request, const Endpoint* endpoint) {
  require(!request.strategy.communicates() == (endpoint == nullptr),
          "training with an algorithm needs ranks to talk to, and without one there are none");
  if (!request.strategy.communicates()) {
    require(request.world.ranks() == 1, "without an algorithm only one process can train");
    return;
  }
  require(request.strategy.fusion.fusion != nullptr, "training needs a fusion policy");
  require(!request.strategy.algorithm.uses_servers() || request.strategy.placement != nullptr,
          fmt::format("{} needs a placement of tensors on servers", request.strategy.algorithm.text()));
  for (const std::string& refusal :
       {refuse_strategy(request.strategy, request.world), refuse_engine(request.strategy, false)})
    require(refusal.empty(), refusal);
}

void check_request(const TrainingRequest& request, Endpoint* endpoint) {
  require(request.batch >= 1, "the batch must be at least 1");
  if (!request.own) check_images(find_entry(models(), request.model, "model"), request.image_size);
  require_place(request.strategy.on_gpu, request.strategy.precision);
  require(request.steps >= 1 && request.warmup_steps >= 0, "at least one step must be timed");
  check_strategy(request, endpoint);
  if (endpoint == nullptr) return;
  require(endpoint->transport().size() == request.world.ranks(),
          fmt::format("the job has {} ranks where {} workers and servers were asked for", endpoint->transport().size(),
                      request.world.ranks()),
          "start as many ranks as there are workers and dedicated servers");
}

Replica make_replica(const TrainingRequest& request, Rank rank) {
  const ReplicaOptions options{
      .batch = request.batch,
      .image_size = request.image_size,
      .seed = request.seed,
      .rank = rank,
      .workers = request.world.workers,
      .freeze_batch_norm = request.freeze_batch_norm,
      .threads = request.threads,
      .gpu = request.strategy.on_gpu ? std::optional(gpu_of(request.local_rank(rank))) : std::nullopt,
      .precision = request.strategy.precision,
      .channels_last = request.strategy.on_gpu,
      .optimizer = request.strategy.trained_with()};
  return request.own ? Replica(*request.own, options) : Replica(find_entry(models(), request.model, "model"), options);
}

}  // namespace

TrainingEnd train(const TrainingRequest& request, Endpoint* endpoint,
                  const std::function<void(const StepReport&)>& on_step) {
  check_request(request, endpoint);
  const Rank rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  if (rank >= request.world.workers) {
    serve(request, *endpoint);
    return {};
  }
  Replica replica = make_replica(request, rank);
  if (endpoint == nullptr) {
    train_alone(replica, request, on_step);
    return {.digest = replica.digest()};
  }
  TrainingEnd end = train_together(replica, request, *endpoint, on_step);
  compare_digests(end.digest, request, endpoint->control());
  return end;
}

}  // namespace hbench
