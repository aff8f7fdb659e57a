#pragma once

#include "analysis/records/machine_load.hpp"
#include "analysis/records/records.hpp"
#include "collectives/base/test_delay.hpp"

namespace hbench {

/// What is stored with each launch that a test made slow, so that nobody takes its figures for real.
inline Sample delay_sample(const TestDelay& delay, int launch = 0) {
  return {.launch = launch,
          .rank = delay.rank,
          .metric = std::string(metric::kTestDelay),
          .value = delay.time.value,
          .unit = "s"};
}

}  // namespace hbench
