#pragma once

/// Simulated collectives beside the curves that were measured on the same cluster.
///
/// Modelled rates of one GPU beside measured ones: how far the model is off where a GPU is not known to it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/prediction/rate_model.hpp"
#include "collectives/network/collective_model.hpp"

namespace hbench {

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
  std::vector<Size> sizes;
  CurveErrors model;          ///< at these sizes
  CurveErrors interpolation;  ///< at every second of them
};

/// Every curve of these profiles, in their order.
std::vector<CurveValidation> validate_curves(const std::vector<Profile>& profiles);

/// Sizes whose time has one cause: latency, the ramp, and bandwidth.
struct SizeClass {
  std::string_view name;
  std::int64_t least = 0, most = 0;  ///< bytes, both of the class
};
inline constexpr std::array kSizeClasses{SizeClass{"below 1 MiB", 0, (1 << 20) - 1},
                                         SizeClass{"1 to 16 MiB", 1 << 20, 16 << 20},
                                         SizeClass{"above 16 MiB", (16 << 20) + 1, INT64_MAX}};

/// How far the model is off for one class of sizes; sources count alike.
struct ClassErrors {
  std::string_view name;
  std::size_t sizes = 0, curves = 0, sources = 0;
  double mean = 0;  ///< mean |ln| of simulated / measured
  double held = 0;  ///< share in the 90 % band
  /// The same with bands as wide as other sources ask for; none where there is one.
  std::optional<double> held_elsewhere;
  double width = 0;  ///< median of high / low
};

/// The classes that have sizes, in their order.
std::vector<ClassErrors> class_errors(const std::vector<CurveValidation>& all);

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
