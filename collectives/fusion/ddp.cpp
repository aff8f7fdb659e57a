#include <algorithm>
#include <numeric>

#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

/// PyTorch's compute_bucket_assignment_by_size for tensors of one type on one device.
class Ddp final : public FusionPolicy {
 public:
  Ddp(std::span<const double> bucket_and_first, std::span<const std::int64_t> tensor_bytes)
      : limit_(static_cast<std::int64_t>(bucket_and_first[0])),
        first_limit_(static_cast<std::int64_t>(bucket_and_first[1])),
        tensor_bytes_(tensor_bytes.begin(), tensor_bytes.end()),
        buckets_(tensor_bytes.size()) {
    // Before it has seen a step, DDP fills buckets in the order of the parameters and launches the last one first, so
    // that the small bucket holds the front of the model.
    std::vector<int> forward_order(tensor_bytes.size());
    std::iota(forward_order.rbegin(), forward_order.rend(), 0);
    std::vector<Bucket> buckets = filled(forward_order);
    std::ranges::reverse(buckets);
    buckets_.fix(std::move(buckets));
  }

  std::vector<Bucket> on(const FusionEvent& event) override {
    if (event.kind == FusionEventKind::step_begin) begin_step();
    if (event.kind != FusionEventKind::gradient_ready) return {};
    if (!rebuilt_) observed_.push_back(event.index);
    return buckets_.ready(event.index);
  }

 private:
  void begin_step() {
    if (!rebuilt_ && !observed_.empty()) {
      buckets_.fix(filled(observed_));
      rebuilt_ = true;
    }
    buckets_.begin_step();
  }

  /// A bucket is closed by the tensor that fills it, which may exceed the limit.
  std::vector<Bucket> filled(std::span<const int> order) const {
    std::vector<Bucket> buckets;
    std::int64_t room = 0;
    for (const int tensor : order) {
      if (room <= 0) {
        room = buckets.empty() ? first_limit_ : limit_;
        buckets.emplace_back();
      }
      buckets.back().tensors.push_back(tensor);
      room -= tensor_bytes_[static_cast<std::size_t>(tensor)];
    }
    return buckets;
  }

  std::int64_t limit_;
  std::int64_t first_limit_;
  std::vector<std::int64_t> tensor_bytes_;
  FixedBuckets buckets_;
  std::vector<int> observed_;  ///< ready order of the first step
  bool rebuilt_ = false;
};

}  // namespace

extern constinit const Fusion kDdp{
    .name = "ddp",
    .summary = "fixed buckets, the first one smaller, launched in order; rebuilt in ready order after the first step",
    .citation =
        "Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, "
        "PVLDB 13(12), 2020",
    .fields = "bucket:first",
    .defaults = "25MiB:1MiB",
    .learns = true,
    .make = make_policy<Ddp, kDdp>,
};

}  // namespace hbench
