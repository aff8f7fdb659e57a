#include "collectives/cuda/launching_device.hpp"

#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/pack.cuh"

namespace hbench::cuda {
namespace {

__global__ void __launch_bounds__(kThreads) pack(const Piece* pieces, std::size_t count, std::byte* to) {
  for (std::size_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Piece piece = pieces[i];
    copy_piece(piece.tensor, to + piece.offset, piece.bytes, threadIdx.x);
  }
}

__global__ void __launch_bounds__(kThreads) unpack(const Piece* pieces, std::size_t count, const std::byte* from) {
  for (std::size_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Piece piece = pieces[i];
    copy_piece(from + piece.offset, piece.tensor, piece.bytes, threadIdx.x);
  }
}

class CudaPacking final : public Packing {
 public:
  CudaPacking(LaunchingDevice& device, const std::vector<Piece>& pieces) : device_(device), count_(pieces.size()) {
    const auto table = std::as_bytes(std::span(pieces));
    pieces_ = device.allocate(table.size());
    device.write(table, {pieces_.get(), table.size()});
  }

  void pack(std::span<std::byte> to) override { launch<cuda::pack>(to.data()); }
  void unpack(std::span<const std::byte> from) override { launch<cuda::unpack>(from.data()); }

 private:
  template <auto kernel, class Buffer>
  void launch(Buffer* buffer) {
    if (count_ == 0) return;
    const Queue& queue = device_.queue();
    const unsigned blocks = blocks_for<kernel>(queue, count_);
    start<kernel>(queue, blocks, reinterpret_cast<const Piece*>(pieces_.get()), count_, buffer);
  }

  LaunchingDevice& device_;
  std::size_t count_;
  DeviceMemory pieces_;
};

}  // namespace

std::unique_ptr<Packing> make_packing(LaunchingDevice& device, std::span<const std::span<std::byte>> tensors) {
  return std::make_unique<CudaPacking>(device, pieces_of(tensors));
}

}  // namespace hbench::cuda
