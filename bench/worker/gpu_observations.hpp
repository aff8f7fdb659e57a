#pragma once

/// What a rank sees of its GPU while one case is timed, as series of numbers that ranks can gather.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/cuda/gpu_facts.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// The values of one metric, NaN where the GPU did not tell.
struct GpuSeries {
  std::string metric;
  std::string_view unit;
  std::vector<double> values;
};

/// Two looks for each turn of timed iterations.
class GpuObservations {
 public:
  /// `iterations` of `time` were made between two looks.
  void add(std::string_view time, int iterations, const GpuState& before, const GpuState& after);

  /// The metrics of `machine_facts.hpp`: of the looks in their order, and of the iterations of each time.
  /// The same metrics and as many values on every rank that made the same calls.
  std::vector<GpuSeries> series() const;

 private:
  std::vector<GpuState> looks_;
  std::map<std::string, std::vector<double>> reasons_;  ///< by metric, one for each iteration
};

/// Who looks at the GPU of a device; null where it is none, or nobody can.
using WatchDevice = std::function<std::unique_ptr<GpuWatch>(Device& device)>;
/// By the driver.
std::unique_ptr<GpuWatch> watch_by_driver(Device& device);

}  // namespace hbench
