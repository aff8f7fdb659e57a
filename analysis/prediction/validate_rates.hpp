#pragma once

/// Modelled rates of one GPU beside measured ones: how far the model is off where a GPU is not known to it.

#include <string>
#include <vector>

#include "analysis/prediction/rate_model.hpp"

namespace hbench {

/// A measured rate, and what the model says without the GPUs of its family.
struct RateValidation {
  std::string gpu, workload;
  WorkloadKind kind = WorkloadKind::convolutions;
  GpuRate measured;
  GpuRate modelled;

  /// Modelled over measured, less 1: above 0 where the model is too fast.
  double error() const { return modelled.samples_per_second / measured.samples_per_second - 1; }
  /// Whether the band of the model holds the measured rate.
  bool is_held() const;
};

/// Every measured rate that tells how GPUs compare, of the largest batch of its precision and software; by GPU. The
/// traces are those of the workloads that have a rate.
std::vector<RateValidation> validate_rates(const RateModel& model, const TraceLibrary& traces);

}  // namespace hbench
