#include "collectives/fusion/mg_wfbp.hpp"

#include <algorithm>
#include <numeric>

#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

/// The best way to reduce the gradients up to one of them.
struct Prefix {
  double finish = 0;
  std::size_t runs = 0;
  std::size_t last = 0;  ///< length of the last run

  /// Sooner; at equal times the fewer all-reduces.
  bool better_than(const Prefix& other) const {
    return finish != other.finish ? finish < other.finish : runs < other.runs;
  }
};

/// In the first step all gradients leave together at its end, so that communication does not disturb the times that
/// are learned from it.
class MgWfbp final : public FusionPolicy {
 public:
  MgWfbp(std::span<const double> startup_and_bandwidth, std::span<const std::int64_t> tensor_bytes)
      : cost_{Seconds(startup_and_bandwidth[0]), BytesPerSecond(startup_and_bandwidth[1])},
        tensor_bytes_(tensor_bytes.begin(), tensor_bytes.end()),
        buckets_(tensor_bytes.size()) {
    std::vector<int> all(tensor_bytes.size());
    std::iota(all.begin(), all.end(), 0);
    if (!all.empty()) buckets_.fix({Bucket(std::move(all))});
  }

  std::vector<Bucket> on(const FusionEvent& event) override {
    if (event.kind == FusionEventKind::step_begin) begin_step();
    if (event.kind != FusionEventKind::gradient_ready) return {};
    if (!merged_) {
      order_.push_back(event.index);
      gradients_.push_back({event.at, tensor_bytes_[static_cast<std::size_t>(event.index)]});
    }
    return buckets_.ready(event.index);
  }

 private:
  void begin_step() {
    if (!merged_ && !order_.empty()) {
      merge();
      merged_ = true;
    }
    buckets_.begin_step();
  }

  void merge() {
    std::vector<Bucket> buckets;
    auto tensor = order_.begin();
    for (const std::size_t run : optimal_merge(gradients_, cost_)) {
      buckets.emplace_back(std::vector<int>(tensor, tensor + static_cast<std::ptrdiff_t>(run)));
      tensor += static_cast<std::ptrdiff_t>(run);
    }
    buckets_.fix(std::move(buckets));
  }

  ReduceTime cost_;
  std::vector<std::int64_t> tensor_bytes_;
  FixedBuckets buckets_;
  std::vector<int> order_;                ///< ready order of the first step
  std::vector<ReadyGradient> gradients_;  ///< the same tensors
  bool merged_ = false;
};

}  // namespace

std::vector<std::size_t> optimal_merge(std::span<const ReadyGradient> gradients, const ReduceTime& cost) {
  // The end of a run grows with the end of what was before it, so the best beginning is part of the best whole.
  std::vector<Prefix> best(gradients.size() + 1);
  for (std::size_t end = 1; end <= gradients.size(); ++end) {
    std::int64_t bytes = 0;
    for (std::size_t run = 1; run <= end; ++run) {
      bytes += gradients[end - run].bytes;
      const Prefix& before = best[end - run];
      const double start = std::max(before.finish, gradients[end - 1].at.value);
      const Prefix candidate{start + cost.of(bytes).value, before.runs + 1, run};
      if (run == 1 || candidate.better_than(best[end])) best[end] = candidate;
    }
  }
  std::vector<std::size_t> runs;
  for (std::size_t end = gradients.size(); end > 0; end -= best[end].last) runs.push_back(best[end].last);
  std::ranges::reverse(runs);
  return runs;
}

extern constinit const Fusion kMgWfbp{
    .name = "mg-wfbp",
    .summary =
        "merges neighbours where the first step's times and a model of the all-reduce (startup + bytes / bandwidth) "
        "say that communication ends soonest",
    .citation =
        "Shi, Chu and Li, MG-WFBP: Efficient Data Communication for Distributed Synchronous SGD Algorithms, "
        "INFOCOM 2019",
    .fields = "startup:bandwidth",
    // The authors' figures for 8 workers on 10 Gbit/s Ethernet: a = 0.523 ms, b = 0.857 ns/B.
    .defaults = "523us:9334Mbit/s",
    .learns = true,
    .make = make_policy<MgWfbp, kMgWfbp>,
};

}  // namespace hbench
