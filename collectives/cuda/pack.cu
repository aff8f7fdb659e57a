#include "collectives/cuda/pack.hpp"

#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/pack.cuh"

namespace hbench {
namespace cuda {
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

template <auto kernel, class Buffer>
void launch_pieces(Device& device, const CudaTensors& tensors, Buffer* buffer) {
  if (tensors.piece_count == 0) return;
  const Queue& queue = launching_device(device).queue();
  const unsigned blocks = blocks_for<kernel>(queue, tensors.piece_count);
  kernel<<<blocks, kThreads, 0, queue.stream>>>(reinterpret_cast<const Piece*>(tensors.pieces.get()),
                                                tensors.piece_count, buffer);
  succeed(cudaGetLastError(), "launching a CUDA kernel");
}

}  // namespace
}  // namespace cuda

CudaTensors cuda_tensors(Device& device, std::span<const std::span<std::byte>> tensors) {
  const std::vector<cuda::Piece> pieces = cuda::pieces_of(tensors);
  const auto table = std::as_bytes(std::span(pieces));
  CudaTensors made{device.allocate(table.size()), pieces.size(), 0};
  device.write(table, {made.pieces.get(), table.size()});
  for (const std::span<std::byte> tensor : tensors) made.bytes += tensor.size();
  return made;
}

void cuda_pack(Device& device, const CudaTensors& tensors, std::span<std::byte> to) {
  cuda::launch_pieces<cuda::pack>(device, tensors, to.data());
}

void cuda_unpack(Device& device, std::span<const std::byte> from, const CudaTensors& tensors) {
  cuda::launch_pieces<cuda::unpack>(device, tensors, from.data());
}

}  // namespace hbench
