#include "bench/collective/tensors.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include "collectives/fusion/fusion.hpp"

namespace hbench {

std::vector<std::int64_t> tensors_of(const StepTimeline& timeline, const std::string& fusion, DataType type) {
  const auto element_size = static_cast<std::int64_t>(size_of(type));
  std::vector<std::int64_t> elements, bytes;
  for (const GradientEvent& gradient : timeline.gradients) {
    elements.push_back(gradient.elements);
    bytes.push_back(gradient.elements * element_size);
  }
  if (fusion.empty()) return elements;
  const std::unique_ptr<FusionPolicy> policy = parse_fusion(fusion).make(bytes);
  std::vector<std::int64_t> buckets;
  int done = 0;
  // Every bucket is through at once: what merges is the policy, not a slow network.
  const auto tell = [&](const FusionEvent& event) {
    std::vector<Bucket> launched = policy->on(event);
    while (!launched.empty()) {
      std::vector<Bucket> next;
      for (const Bucket& bucket : launched) {
        buckets.push_back(bucket.bytes(bytes) / element_size);
        ++done;
        std::ranges::move(policy->on({FusionEventKind::bucket_done, event.at, done}), std::back_inserter(next));
      }
      launched = std::move(next);
    }
  };
  const auto timers_until = [&](Seconds now) {
    for (auto wakeup = policy->wakeup(); wakeup && *wakeup <= now; wakeup = policy->wakeup())
      tell({FusionEventKind::timer, *wakeup, 0});
  };
  tell({FusionEventKind::step_begin, Seconds(0), 0});
  for (std::size_t i = 0; i < timeline.gradients.size(); ++i) {
    const Seconds at = timeline.forward + timeline.gradients[i].ready;
    timers_until(at);
    tell({FusionEventKind::gradient_ready, at, static_cast<int>(i)});
  }
  const Seconds end = timeline.step();
  timers_until(end);
  tell({FusionEventKind::backward_done, end, 0});
  timers_until(end + Seconds(3600));
  return buckets;
}

}  // namespace hbench
