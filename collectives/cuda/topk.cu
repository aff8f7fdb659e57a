#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"
#include "collectives/cuda/select.hpp"

namespace hbench {
namespace cuda {
namespace {

class TopKCodec final : public LaunchedCodec {
 public:
  TopKCodec(Device& device, const CompressorChoice& choice) : LaunchedCodec(device, choice), workspace_(device) {}

 private:
  std::size_t wanted(std::size_t elements) const {
    const auto bytes = static_cast<std::size_t>(max_wire_bytes(static_cast<std::int64_t>(elements)));
    return (bytes - sizeof(std::uint32_t)) / (sizeof(std::uint32_t) + sizeof(float));
  }
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    const std::size_t count = wanted(in.size());
    if (count == 0) {
      succeed(cudaMemsetAsync(out.data(), 0, sizeof(std::uint32_t), queue.stream), "clearing GPU memory");
    } else {
      select_largest(queue, workspace_, in, {out.data(), count});
    }
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    if (kind == TransferKind::copy)
      succeed(cudaMemsetAsync(out.data(), 0, out.size_bytes(), queue.stream), "clearing GPU memory");
    const std::size_t count = wanted(out.size());
    launch(queue, AddSparse{in.data(), count, bytes_of(out), out.size()}, {.elements = count});
  }

  mutable Workspace workspace_;
};

}  // namespace

extern const CudaCodec kTopK;
constinit const CudaCodec kTopK{"topk", make_launched<TopKCodec>};

}  // namespace cuda
}  // namespace hbench
