#pragma once

/// What the codecs of `codecs.hpp` have in common.

#include <memory>
#include <span>

#include "collectives/compressors/compressor.hpp"
#include "collectives/cuda/launching_device.hpp"

namespace hbench::cuda {

/// As long as on the host, and that always.
class LaunchedCodec : public Codec {
 public:
  LaunchedCodec(Device& device, const CompressorChoice& choice)
      : device_(launching_device(device)), host_(choice.codec), workspace_(device) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const final { return host_->max_wire_bytes(elements); }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const final {
    launch_encode(device_.queue(), in, draw, out);
    return max_wire_bytes(std::ssize(in));
  }
  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const final {
    launch_decode(device_.queue(), in, kind, out);
  }

 protected:
  /// For what one kernel leaves to the next.
  Workspace& workspace() const { return workspace_; }

 private:
  virtual void launch_encode(const Queue& queue, std::span<const float> in, const Draw& draw,
                             std::span<std::byte> out) const = 0;
  virtual void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                             std::span<float> out) const = 0;

  LaunchingDevice& device_;
  std::shared_ptr<const Codec> host_;
  mutable Workspace workspace_;
};

/// The `make` of a CudaCodec.
template <class Launched>
std::shared_ptr<const Codec> make_launched(Device& device, const CompressorChoice& choice) {
  return std::make_shared<Launched>(device, choice);
}

inline std::byte* bytes_of(std::span<float> floats) { return reinterpret_cast<std::byte*>(floats.data()); }
inline const std::byte* bytes_of(std::span<const float> floats) {
  return reinterpret_cast<const std::byte*>(floats.data());
}

}  // namespace hbench::cuda
