#pragma once

/// The mean of a rank's parameters with those of its neighbours in a circle of all workers, and that of all workers.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/some_exchange.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// Where the parameters of a bucket lie on a rank, cut into runs that are alike on all ranks.
struct MeanRuns {
  std::vector<std::span<const float>> own;  ///< read until the operation is complete
  std::vector<std::span<float>> means;      ///< as long as those
  std::span<std::byte> landing;             ///< as long as all runs together, for each neighbour
};

/// Sends a rank's runs to its neighbours, and leaves the means of theirs and its own in `means`: the same bits each
/// time, whoever comes first. Ranks prepare these operations in the same order. The memory outlives the operation,
/// which waits for no rank but the neighbours.
std::unique_ptr<Operation> make_neighbour_mean(Endpoint& endpoint, int workers, MeanRuns runs);

/// The means of whole buckets, which are the same on all ranks, in the same order: all tensors are ready when an
/// iteration begins, so that no policy puts them together otherwise on one rank than on another.
class Neighbours final : public SomeExchange {
 public:
  /// The endpoint outlives it.
  Neighbours(Endpoint& endpoint, int workers, const GradientLayout& layout, const ModelMemory& memory)
      : endpoint_(endpoint), workers_(workers), offsets_(layout.offsets()), memory_(memory) {}
  std::unique_ptr<Operation> exchange(const Bucket& bucket) override;

 private:
  Endpoint& endpoint_;
  int workers_;
  std::vector<std::int64_t> offsets_;
  ModelMemory memory_;
  std::map<Bucket, DeviceMemory> landings_;
};

/// Leaves the mean of all workers' parameters on each of them, as jobs whose ranks average with some others end.
/// Overwrites `memory.means`. Returns, on rank 0, the root mean square of the distance of a parameter from that mean
/// before, over all parameters of all workers; elsewhere nothing. All workers call it, and no other thread uses the
/// endpoint. \throws Error (lost_rank).
std::optional<double> take_common_mean(const TrainingRequest& request, Endpoint& endpoint, const ModelMemory& memory);

}  // namespace hbench
