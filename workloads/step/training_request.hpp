#pragma once

/// What a training job is asked for, and what it reports of each step: for those who ask and for the engine.
/// Also training steps that are replayed instead of computed: real gradients of the recorded sizes, at the recorded
/// times, through the fusion policy, collectives and transport of a real step. Needs no LibTorch and no GPU.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/span.hpp"
#include "collectives/network/rank_layout.hpp"
#include "workloads/models/own_model.hpp"
#include "workloads/step/fault.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// Where a job leaves what another one goes on from. It is written while steps go on.
struct CheckpointRequest {
  std::string folder = {};
  int every = 1;        ///< steps, or as many more as end a cycle of the method's plan
  bool resume = false;  ///< begins with the newest state that all ranks have, where there is one
};

/// What a rank did with a checkpoint.
struct CheckpointReport {
  enum class What : std::uint8_t {
    written,
    brought,  ///< back
    damaged   ///< found so, and left for an older one
  } what = What::written;
  int steps = 0;  ///< done by then
  std::int64_t bytes = 0;
  Seconds stall;    ///< for which the rank trained nothing
  Seconds writing;  ///< to the disk
};

/// What one rank trains, and how its gradients travel. Equal on all ranks.
struct TrainingRequest {
  std::string model;                 ///< a name in `models()`; not looked at where `own` is given
  std::optional<OwnModel> own = {};  ///< in the place of both `model` and `image_size`
  int batch = 16;                    ///< samples per worker and micro-batch
  /// Of each step: their gradients are added up on each worker, and travel with the last one's.
  int micro_batches = 1;
  int image_size = 64;  ///< pixels, square
  World world;          ///< workers (and servers) of the job
  /// Workers of each node, which have consecutive ranks; 0: all are on one.
  int workers_per_node = 0;
  std::vector<int> node_of_rank = {};  ///< servers with them; empty: all are on one
  /// On GPUs, a node's worker r trains on its GPU r modulo their number, with data in the order that tensor cores want;
  /// the endpoint's collectives work there too. The endpoint stands for the executor, which is not looked at.
  TrainingStrategy strategy;
  int warmup_steps = 5;
  int steps = 20;  ///< timed steps
  /// Further steps, after the timed ones, of which each rank records its spans.
  int traced_steps = 0;
  /// Since the first step; rank 0 decides for all. Once it is spent the warm-up ends, and the job after the
  /// current step, but never before one step was timed. 0: no limit.
  Seconds budget{0};
  Seconds timeout{60};  ///< a collective that takes longer names the late ranks and fails
  unsigned seed = 1;
  /// LibTorch's threads per rank. Whoever starts the ranks sets OMP_NUM_THREADS and OPENBLAS_NUM_THREADS to
  /// the same number, because the libraries below LibTorch read them when the process begins.
  int threads = 1;
  std::optional<double> learning_rate = {};  ///< none: that of the optimizer
  /// What is learned, as `load_dataset` takes it; empty: samples are drawn, and there is nothing in them to learn.
  std::string data = {};
  /// Over the data, each in another order; they set the number of steps, and there is no budget. What the model has
  /// learned is looked at after each, off the clock.
  int epochs = 0;
  /// Batch normalisation with its running statistics: samples then do not see each other, and it makes no
  /// difference how they are spread over workers.
  bool freeze_batch_norm = false;
  std::vector<PlantedFault> faults = {};
  std::optional<CheckpointRequest> checkpoint = {};
  int first_step = 0;  ///< of the job that it goes on from; those before are done
  /// The factor by which the clock of the job is slower than that of what it stands for (emulation): the times that
  /// fusion policies are called with are divided by it.
  double dilation = 1;
  /// How often a rank looks for messages that nothing announces. 0: as often as it can, as a rank stands for a GPU with
  /// a core of its own; ranks that share cores take turns by it.
  Seconds polling{0};

  double rate() const { return learning_rate.value_or(strategy.trained_with().optimizer->rate); }
  /// The rate of an update in step `step` by the sum over `batches`, of a job that learns from data: as many times that
  /// of one batch, which it reaches over the first tenth of the job (Goyal et al., Accurate, Large Minibatch SGD,
  /// arXiv:1706.02677), or of Adam's family its square root (Malladi et al., NeurIPS 2022). Else `rate`.
  double rate_at(std::int64_t step, int batches) const;
  int node_of(Rank rank) const { return node_of_rank.empty() ? 0 : node_of_rank[static_cast<std::size_t>(rank)]; }
  /// A worker's number among those of its node.
  Rank local_rank(Rank worker) const { return workers_per_node > 0 ? worker % workers_per_node : worker; }
};

/// One step of one rank, as it ends.
struct StepReport {
  int iteration = 0;  ///< from 0, warm-up included
  bool warmup = false;
  Seconds step;     ///< from this step's beginning to the next one's
  Seconds exposed;  ///< waiting for gradients after the backward pass
  double loss = 0;
  /// Of a traced step, which is no timed one; else empty. Valid during the call.
  std::span<const Span> spans = {};
};

/// How well a model names the classes of samples that it was not trained on.
struct Judged {
  double accuracy = 0;  ///< share of samples
  double loss = 0;      ///< mean
};

/// A model after an epoch.
struct Learned {
  int epoch = 0;  ///< after it, from 1; in the end one more than all
  int steps = 0;  ///< done by then
  Seconds at;     ///< since the first step began, without the time that looking took
  Judged judged;
};

/// What a rank's training has come to, beside its steps.
struct TrainingEnd {
  std::uint64_t digest = 0;  ///< of the final parameters, equal on all workers; 0 on servers
  /// Where ranks average with some others, on rank 0: the root mean square of the distance of a parameter from the mean
  /// of all workers', which they end with.
  std::optional<double> consensus_distance = {};
  /// Where servers apply gradients as they come, on rank 0: how often they applied one, by the number of others
  /// that it was computed without. Of all pieces of the model alike.
  std::map<int, std::int64_t> unseen = {};
  /// Bytes of a timed step, on the mean, that a worker sent, and got from dedicated servers, so that each is counted by
  /// one worker. None where a library moved them.
  std::optional<Moved> sent = {};
};

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
