#include <numeric>

#include "collectives/fusion/fixed_buckets.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/fusion/optimal_merge.hpp"
#include "collectives/fusion/parameters.hpp"

namespace hbench {
namespace {

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

extern const Fusion kMgWfbp;
constinit const Fusion kMgWfbp{
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
    .make = [](std::string_view parameters,
               std::span<const std::int64_t> tensor_bytes) -> std::unique_ptr<FusionPolicy> {
      return std::make_unique<MgWfbp>(read_parameters(kMgWfbp, parameters), tensor_bytes);
    },
};

}  // namespace hbench
