#pragma once

/// Simulated collectives beside the curves that were measured on the same cluster.

#include <string>
#include <vector>

#include "collectives/network/collective_model.hpp"

namespace hbench {

/// The sizes at which gradients travel, which count for the errors: below is latency alone, above bandwidth alone.
inline constexpr std::int64_t kLeastGradient = 64 << 10;
inline constexpr std::int64_t kMostGradient = 256 << 20;

/// One curve, and what would be said of the cluster without it.
struct CurveValidation {
  struct Size {
    std::int64_t bytes = 0;
    double measured = 0;       ///< seconds
    double simulated = 0;      ///< seconds, by the model
    double low = 0, high = 0;  ///< seconds: the band of the model

    bool is_held() const { return measured >= low && measured <= high; }
  };

  std::string profile;
  MeasuredCurve curve;
  std::vector<Size> sizes;    ///< of gradients
  CurveErrors model;          ///< at these sizes
  CurveErrors interpolation;  ///< at every second of them
};

/// Every curve of these profiles that has sizes of gradients, in their order.
std::vector<CurveValidation> validate_curves(const std::vector<Profile>& profiles);

}  // namespace hbench
