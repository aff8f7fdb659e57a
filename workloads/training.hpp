#pragma once

/// Real data-parallel training of one model on this machine: LibTorch gradients, our fusion policy, our
/// collectives. No LibTorch type appears here, so that the program builds without it.

#include <cstdint>
#include <functional>
#include <string>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/step/precision.hpp"
#include "workloads/step/timeline.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// Trains on this rank; `endpoint` may be null exactly when the strategy does not communicate. Dedicated server ranks
/// only serve. Every worker starts from the same seeded parameters and ends with identical ones: the mean of all, where
/// ranks average with some others.
/// Of data that is learned rank 0 tells in the end what it knew after each epoch, and then what ranks have agreed on.
/// Each rank tells what it does with its checkpoints, where the request has such.
/// \throws Error (lost_rank) naming late ranks, usage for an unknown model, wrong_data when ranks disagree.
TrainingEnd train(
    const TrainingRequest& request, Endpoint* endpoint, const std::function<void(const StepReport&)>& on_step,
    const std::function<void(const Learned&)>& on_learned = [](const Learned&) {},
    const std::function<void(const CheckpointReport&)>& on_checkpoint = [](const CheckpointReport&) {});

/// The losses and the last parameters of a short training on one core in this process, as a number: the same bits each
/// time, and on machines with the same processor and LibTorch, unless one of them computes wrongly. Some tenths of a
/// second.
std::uint64_t loss_fingerprint();

/// What is recorded.
struct RecordingRequest {
  std::string model;                 ///< as `TrainingRequest::model`
  std::optional<OwnModel> own = {};  ///< as `TrainingRequest::own`
  int batch = 16;
  int image_size = 64;
  int steps = 10;
  int threads = 1;
  bool on_gpu = false;  ///< on the first
  Precision precision = Precision::float32;
  std::optional<OptimizerChoice> optimizer = {};  ///< none: plain SGD
};

/// Records undisturbed steps in this process: the median over `steps` of each gradient's ready time.
StepTimeline record_timeline(const RecordingRequest& request);

}  // namespace hbench
