#pragma once

/// Training steps that are replayed instead of computed: real gradients of the recorded sizes, at the recorded times,
/// through the fusion policy, collectives and transport of a real step. Needs no LibTorch and no GPU.

#include "workloads/step/timeline.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// What is replayed, and how fast. Equal on all ranks.
struct ReplayRequest {
  StepTimeline timeline;
  /// The number of seconds of the clock that every second of the timeline takes (`TrainingRequest::dilation` is the
  /// same).
  double dilation = 1;
  /// Relative standard deviation of a rank's compute time. In each step the ranks' deviations are the expected order
  /// statistics of as many normal draws, dealt out anew: the slowest is as late as is expected of the slowest.
  double straggler = 0;
  double overlap_slowdown = 0;  ///< compute takes 1 + this while a collective is in flight
  /// By worker, the factor by which it is slower than the timeline, for faults that are planted; empty: none is.
  std::vector<double> slower = {};
  /// As `model_units`, where the method goes by units. Whoever replays may know no names of tensors.
  std::vector<std::vector<int>> units = {};
};

/// By how many standard deviations a worker is off in a step. Pure; see `ReplayRequest::straggler`.
double replayed_deviation(Rank worker, int workers, int step);

/// What a rank's replay has come to.
struct ReplayEnd {
  TrainingEnd training;
  Seconds processor_time;  ///< that the replay itself took, in all steps
};

/// Trains as `train` does, with replayed compute. `request.model`, `batch` and `image_size` are not looked at. Times of
/// `on_step` are those of the clock. \throws Error as `train`, and wrong_data where a sum of gradients is not exact.
ReplayEnd replay(const TrainingRequest& request, const ReplayRequest& replayed, Endpoint& endpoint,
                 const std::function<void(const StepReport&)>& on_step);

}  // namespace hbench
