#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

class Unfused final : public FusionPolicy {
 public:
  std::vector<Bucket> on(const FusionEvent& event) override {
    if (event.kind != FusionEventKind::gradient_ready) return {};
    return {Bucket{event.index}};
  }
};

}  // namespace

extern constinit const Fusion kNone{
    .name = "none",
    .summary = "every gradient leaves alone, as soon as it is ready",
    .citation =
        "Zhang et al., Poseidon: An Efficient Communication Architecture for Distributed Deep Learning on "
        "GPU Clusters, USENIX ATC 2017 (wait-free backpropagation)",
    .make = [](std::string_view parameters, std::span<const std::int64_t>) -> std::unique_ptr<FusionPolicy> {
      read_parameters(kNone, parameters);
      return std::make_unique<Unfused>();
    },
};

}  // namespace hbench
