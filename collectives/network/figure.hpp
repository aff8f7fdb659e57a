#pragma once

/// One figure of a cluster's profile, and where it comes from.

#include <string>

namespace hbench {

/// By which factor a figure that is only assumed may be off, where its profile does not say by which.
inline constexpr double kAssumedFactor = 2;

/// One figure of a profile with its provenance.
struct Figure {
  std::string key;     ///< `network.line_rate`; of the GPU's file `gpu.memory_rate`
  std::string text;    ///< as written: `25 Gbit/s`
  std::string source;  ///< who says so; `stated in <file>` for a figure without one
  /// The factor by which a figure that nobody states, and that is assumed, may be higher or lower. 1: it is stated.
  double assumed = 1;
  std::string place;  ///< where it is written, `my.toml:12`; empty for a figure that was not read
};

}  // namespace hbench
