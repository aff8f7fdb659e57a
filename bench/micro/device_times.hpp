#pragma once

/// Times of work on a device, for benchmarks that compare it with other work in turn.

#include <algorithm>
#include <chrono>
#include <vector>

#include "collectives/device/device.hpp"

namespace hbench {

/// Seconds from a device without work to the end of `work` done `times` over, for one of them.
template <class Work>
double timed(Device& device, int times, Work work) {
  synchronize(device);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work();
  // Not `drain`: a yield is long beside a short kernel.
  const Event end = device.record_event();
  while (!device.query(end)) {
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace hbench
