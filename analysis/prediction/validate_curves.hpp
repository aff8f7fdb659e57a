#pragma once

/// Simulated collectives beside the curves that were measured on the same cluster.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace hbench
