#pragma once

/// What a rank does beside computing: agrees with the others on buckets and reduces them.

#include <memory>
#include <span>

#include "collectives/executors/endpoint.hpp"
#include "workloads/engine/handover.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/engine/reducer.hpp"
#include "workloads/engine/role.hpp"

namespace hbench {

/// The only user of the endpoint while it runs.
class Communicator {
 public:
  /// Everything given outlives the communicator. `gradients` is laid out as `layout` says; after a step it
  /// holds, on workers, the sum over all workers.
  Communicator(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
               std::span<float> gradients);

  /// The communication thread of a worker: serves `handover` until it is closed. Failures go there.
  void run(Handover& handover) noexcept;
  /// A dedicated server: takes part in every step until rank 0 ends the job. \throws Error (lost_rank).
  void serve();

 private:
  void step(Handover& handover);
  int pass(int completed);
  void check_late();

  Seconds patience_;  ///< with a collective that does not end
  Device& device_;
  std::unique_ptr<Role> role_;
  Reducer reducer_;
  int step_ = 0;
};

}  // namespace hbench
