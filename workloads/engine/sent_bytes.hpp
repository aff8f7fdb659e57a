#pragma once

#include <optional>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// Adds up what a worker sends in its timed steps, as `TrainingEnd::sent`. Used by one thread, while no other uses the
/// endpoint.
class SentBytes {
 public:
  /// Both outlive it.
  SentBytes(const TrainingRequest& request, Endpoint& endpoint) : request_(request), endpoint_(endpoint) {}

  /// A timed cycle of the plan begins, and ends.
  void begin() { before_ = so_far(); }
  void end(int iterations) {
    sum_ += so_far() * 1.0;
    sum_ += before_ * -1.0;
    iterations_ += iterations;
  }
  std::optional<Moved> per_iteration() const;

 private:
  Moved so_far() const;

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  Moved before_, sum_;
  int iterations_ = 0;
};

}  // namespace hbench
