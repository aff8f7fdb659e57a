#include <algorithm>
#include <cmath>

#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

/// Ticks come every `cycle` from the step's beginning; at a tick all that is ready leaves, in ready order.
class Cycle final : public FusionPolicy {
 public:
  Cycle(std::span<const double> threshold_and_cycle, std::span<const std::int64_t> tensor_bytes)
      : threshold_(static_cast<std::int64_t>(threshold_and_cycle[0])),
        cycle_(threshold_and_cycle[1]),
        tensor_bytes_(tensor_bytes.begin(), tensor_bytes.end()) {}

  std::vector<Bucket> on(const FusionEvent& event) override {
    switch (event.kind) {
      case FusionEventKind::step_begin:
        ready_.clear();
        outstanding_ = tensor_bytes_.size();
        next_tick_ = 1;
        return {};
      case FusionEventKind::gradient_ready:
        ready_.push_back(event.index);
        return {};
      case FusionEventKind::timer:
        return event.at < tick_time() ? std::vector<Bucket>() : tick(event.at);
      case FusionEventKind::bucket_done:
      case FusionEventKind::backward_done:
        return {};
    }
    return {};
  }

  std::optional<Seconds> wakeup() const override {
    if (outstanding_ == 0) return std::nullopt;
    return tick_time();
  }

 private:
  Seconds tick_time() const { return cycle_ * next_tick_; }

  std::vector<Bucket> tick(Seconds now) {
    // A late timer skips the ticks that it missed. The maximum guards against now / cycle_ rounding down.
    next_tick_ = std::max(next_tick_, std::floor(now / cycle_)) + 1;
    outstanding_ -= ready_.size();
    std::vector<Bucket> buckets;
    std::int64_t bytes = 0;
    // Horovod (FuseResponses) looks past tensors of another type for more of the same. Where all are float32, the first
    // one that does not fit ends its look ahead, because skipped bytes count against the threshold as well.
    for (const int tensor : ready_) {
      const std::int64_t size = tensor_bytes_[static_cast<std::size_t>(tensor)];
      if (buckets.empty() || bytes + size > threshold_) {
        buckets.emplace_back();
        bytes = 0;
      }
      buckets.back().tensors.push_back(tensor);
      bytes += size;
    }
    ready_.clear();
    return buckets;
  }

  std::int64_t threshold_;
  Seconds cycle_;
  std::vector<std::int64_t> tensor_bytes_;
  std::vector<int> ready_;
  std::size_t outstanding_ = 0;
  double next_tick_ = 1;  ///< a whole number of cycles since the step began
};

constexpr std::string_view kCitation =
    "Sergeev and Del Balso, Horovod: fast and easy distributed deep learning in TensorFlow, arXiv:1802.05799, 2018";

}  // namespace

extern constinit const Fusion kHorovod{
    .name = "horovod",
    .summary =
        "each cycle, all that is ready leaves in buckets of at most the threshold, agreed on by a bit per tensor; "
        "Horovod since v0.21",
    .citation = kCitation,
    .fields = "threshold:cycle",
    .defaults = "128MiB:1ms",
    .negotiation = Negotiation::bits,
    .varies = true,
    .make = make_policy<Cycle, kHorovod>,
};

extern constinit const Fusion kHorovod2018{
    .name = "horovod-2018",
    .summary = "the same as it was in 2018: other defaults, and without a response cache tensors are agreed on by name",
    .citation = kCitation,
    .fields = "threshold:cycle",
    .defaults = "64MiB:5ms",
    .negotiation = Negotiation::names,
    .varies = true,
    .make = make_policy<Cycle, kHorovod2018>,
};

}  // namespace hbench
