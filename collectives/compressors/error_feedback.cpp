#include "collectives/compressors/error_feedback.hpp"

#include <cmath>
#include <vector>

namespace hbench {
namespace {

/// Holds the residual with its sign turned: then decoding adds what was sent to what was to be sent, and sparse
/// compressors touch only what they sent.
class Residual final : public GradientMemory {
 public:
  explicit Residual(std::int64_t elements) : excess_(static_cast<std::size_t>(elements)) {}

  void compensate(std::span<float> gradient) override {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= excess_[i];
  }

  void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) override {
    for (std::size_t i = 0; i < excess_.size(); ++i) excess_[i] = -compensated[i];
    codec.decode(encoded, TransferKind::reduce, excess_);
    for (float& excess : excess_) excess = std::isfinite(excess) ? excess : 0.0F;
  }

 private:
  std::vector<float> excess_;
};

}  // namespace

std::unique_ptr<GradientMemory> make_error_feedback(std::int64_t elements) {
  return std::make_unique<Residual>(elements);
}

}  // namespace hbench
