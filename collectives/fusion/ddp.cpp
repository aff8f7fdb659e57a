#include <numeric>

#include "collectives/fusion/fusion.hpp"
#include "collectives/fusion/parameters.hpp"

namespace hbench {
namespace {

/// Static buckets that leave strictly in index order, so that all ranks launch alike without talking.
class StaticBuckets final : public FusionPolicy {
 public:
  StaticBuckets(std::span<const double> bucket_and_first, std::span<const std::int64_t> tensor_bytes)
      : limit_(static_cast<std::int64_t>(bucket_and_first[0])),
        first_limit_(static_cast<std::int64_t>(bucket_and_first[1])),
        tensor_bytes_(tensor_bytes.begin(), tensor_bytes.end()),
        bucket_of_(tensor_bytes.size()) {
    std::vector<int> backward_order(tensor_bytes.size());
    std::iota(backward_order.begin(), backward_order.end(), 0);
    fill_buckets(backward_order);
  }

  std::vector<Bucket> on(const FusionEvent& event) override {
    if (event.kind == FusionEventKind::step_begin) begin_step();
    if (event.kind != FusionEventKind::gradient_ready) return {};
    if (!rebuilt_) observed_.push_back(event.index);
    --missing_[bucket_of_[static_cast<std::size_t>(event.index)]];
    std::vector<Bucket> leaving;
    for (; next_ < buckets_.size() && missing_[next_] == 0; ++next_) leaving.push_back(buckets_[next_]);
    return leaving;
  }

 private:
  void begin_step() {
    if (!rebuilt_ && !observed_.empty()) {
      fill_buckets(observed_);
      rebuilt_ = true;
    }
    missing_.clear();
    for (const Bucket& bucket : buckets_) missing_.push_back(bucket.size());
    next_ = 0;
  }

  /// A bucket is closed by the tensor that fills it, which may exceed the limit, as in DDP.
  void fill_buckets(std::span<const int> order) {
    buckets_.clear();
    std::int64_t room = 0;
    for (const int tensor : order) {
      if (room <= 0) {
        room = buckets_.empty() ? first_limit_ : limit_;
        buckets_.emplace_back();
      }
      buckets_.back().push_back(tensor);
      bucket_of_[static_cast<std::size_t>(tensor)] = buckets_.size() - 1;
      room -= tensor_bytes_[static_cast<std::size_t>(tensor)];
    }
  }

  std::int64_t limit_;
  std::int64_t first_limit_;
  std::vector<std::int64_t> tensor_bytes_;
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  ///< by tensor
  std::vector<std::size_t> missing_;    ///< by bucket: tensors that are not ready
  std::size_t next_ = 0;                ///< the bucket that leaves next
  std::vector<int> observed_;           ///< ready order of the first step
  bool rebuilt_ = false;
};

}  // namespace

extern const Fusion kDdp;
constinit const Fusion kDdp{
    .name = "ddp",
    .summary = "fixed buckets, the first one smaller, launched in order; rebuilt in ready order after the first step",
    .citation =
        "Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, "
        "PVLDB 13(12), 2020",
    .fields = "bucket:first",
    .defaults = "25MiB:1MiB",
    .make = [](std::string_view parameters,
               std::span<const std::int64_t> tensor_bytes) -> std::unique_ptr<FusionPolicy> {
      return std::make_unique<StaticBuckets>(read_parameters(kDdp, parameters), tensor_bytes);
    },
};

}  // namespace hbench
