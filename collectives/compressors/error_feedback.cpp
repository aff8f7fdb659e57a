#include "collectives/compressors/error_feedback.hpp"

namespace hbench {
namespace {

class Residual final : public GradientMemory {
 public:
  Residual(std::int64_t elements, Device& device)
      : device_(device),
        memory_(device.allocate(static_cast<std::size_t>(elements) * sizeof(float))),
        residual_(reinterpret_cast<float*>(memory_.get()), static_cast<std::size_t>(elements)) {
    if (residual_.empty()) return;
    device_.fill_neutral(DataType::float32, ReduceOp::sum, std::as_writable_bytes(residual_));
    synchronize(device_);
  }

  void compensate(std::span<float> gradient) override {
    device_.accumulate(DataType::float32, ReduceOp::sum, std::as_bytes(residual_), std::as_writable_bytes(gradient));
  }

  void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) override {
    codec.decode(encoded, TransferKind::copy, residual_);
    device_.keep_rest(compensated, residual_);
  }

 private:
  Device& device_;
  DeviceMemory memory_;
  std::span<float> residual_;
};

}  // namespace

std::unique_ptr<GradientMemory> make_error_feedback(std::int64_t elements, Device& device) {
  return std::make_unique<Residual>(elements, device);
}

}  // namespace hbench
