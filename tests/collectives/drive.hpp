#pragma once

/// Drives a fusion policy through one step as the training engine and the simulator do.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "collectives/fusion/fusion.hpp"

namespace hbench::support {

struct Ready {
  double at = 0;
  int tensor = 0;
};

struct Launch {
  double at = 0;
  Bucket bucket;
  friend bool operator==(const Launch&, const Launch&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Launch& launch) {
  out << launch.at << " s: " << ::testing::PrintToString(launch.bucket.tensors);
  return launch.bucket.whole() ? out : out << " bytes " << launch.bucket.begin << " to " << launch.bucket.end;
}

/// `ready` has ascending times; every bucket is complete as soon as it has left. `lateness` says by how much the next
/// timer comes too late.
inline std::vector<Launch> drive(
    FusionPolicy& policy, const std::vector<Ready>& ready, double backward_done,
    const std::function<double()>& lateness = [] { return 0.0; }) {
  std::vector<Launch> launches;
  double now = 0;
  int completed = 0;
  const auto deliver = [&](FusionEventKind kind, double at, int index = 0) {
    now = std::max(now, at);
    std::deque<Bucket> under_way;
    const auto launch = [&](const std::vector<Bucket>& buckets) {
      for (const Bucket& bucket : buckets) {
        launches.push_back({now, bucket});
        under_way.push_back(bucket);
      }
    };
    launch(policy.on({kind, Seconds(now), index}));
    for (; !under_way.empty(); under_way.pop_front())
      launch(policy.on({FusionEventKind::bucket_done, Seconds(now), ++completed}));
  };
  const auto timers_before = [&](double limit) {
    while (policy.wakeup() && policy.wakeup()->value < limit)
      deliver(FusionEventKind::timer, policy.wakeup()->value + lateness());
  };
  deliver(FusionEventKind::step_begin, 0);
  for (const Ready& event : ready) {
    timers_before(event.at);
    deliver(FusionEventKind::gradient_ready, event.at, event.tensor);
  }
  timers_before(backward_done);
  deliver(FusionEventKind::backward_done, backward_done);
  for (int timer = 0; policy.wakeup(); ++timer) {
    if (timer == 100) {
      ADD_FAILURE() << "the policy asks for timers without end";
      break;
    }
    deliver(FusionEventKind::timer, policy.wakeup()->value + lateness());
  }
  return launches;
}

}  // namespace hbench::support
