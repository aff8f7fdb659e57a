#include "collectives/cuda/minmax8.cuh"

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"

namespace hbench {
namespace cuda {
namespace {

/// \pre `found` is zeros
__global__ void __launch_bounds__(kThreads)
    find_outermost(const std::byte* floats, const Extent extent, Outermost* found) {
  Outermost mine;
  walk(FindOutermost{floats, &mine}, extent, {blockIdx.x, gridDim.x, threadIdx.x});
  const std::uint32_t most = largest_of_warp(mine.most), least = largest_of_warp(mine.least);
  if (threadIdx.x % kWarp != 0) return;
  atomicMax(&found->most, most);
  atomicMax(&found->least, least);
}

class MinMax8Codec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;

  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    auto* const found = reinterpret_cast<Outermost*>(workspace().of(sizeof(Outermost)));
    succeed(cudaMemsetAsync(found, 0, sizeof *found, queue.stream), "clearing memory of a GPU");
    const Extent extent = outermost_extent(bytes_of(in), in.size());
    const unsigned blocks = blocks_for<find_outermost>(queue, tiles_of(extent, FindOutermost::kGroup));
    start<find_outermost>(queue, blocks, bytes_of(in), extent, found);
    with_encode_minmax8(bytes_of(in), found, out.data(), in.size(), launching(queue));
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_decode_minmax8(in.data(), kind == TransferKind::reduce, bytes_of(out), out.size(), launching(queue));
  }
};

}  // namespace

extern constinit const CudaCodec kMinMax8{"minmax8", make_launched<MinMax8Codec>};

}  // namespace cuda
}  // namespace hbench
