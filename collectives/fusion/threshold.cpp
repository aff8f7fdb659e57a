#include <utility>

#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

class Accumulate final : public FusionPolicy {
 public:
  Accumulate(std::span<const double> threshold, std::span<const std::int64_t> tensor_bytes)
      : threshold_(static_cast<std::int64_t>(threshold[0])), tensor_bytes_(tensor_bytes.begin(), tensor_bytes.end()) {}

  std::vector<Bucket> on(const FusionEvent& event) override {
    if (event.kind == FusionEventKind::gradient_ready) {
      waiting_.push_back(event.index);
      bytes_ += tensor_bytes_[static_cast<std::size_t>(event.index)];
      if (bytes_ >= threshold_) return launch();
    }
    if (event.kind == FusionEventKind::backward_done && !waiting_.empty()) return launch();
    return {};
  }

 private:
  std::vector<Bucket> launch() {
    bytes_ = 0;
    return {Bucket(std::exchange(waiting_, {}))};
  }

  std::int64_t threshold_;
  std::vector<std::int64_t> tensor_bytes_;
  std::vector<int> waiting_;
  std::int64_t bytes_ = 0;
};

}  // namespace

extern constinit const Fusion kThreshold{
    .name = "threshold",
    .summary = "gradients wait until threshold bytes are ready; the rest leaves after the backward pass",
    .citation =
        "Shi, Chu and Li, MG-WFBP: Efficient Data Communication for Distributed Synchronous SGD Algorithms, "
        "INFOCOM 2019 (why gradients are merged; this is the simplest rule)",
    .fields = "threshold",
    .defaults = "25MiB",
    .varies = true,
    .make = make_policy<Accumulate, kThreshold>,
};

}  // namespace hbench
