#include "collectives/cuda/int4.cuh"

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"

namespace hbench {
namespace cuda {
namespace {

constexpr unsigned kWarps = kThreads / kWarp;

/// All lanes of a warp take the same way.
__global__ void __launch_bounds__(kThreads) encode_int4(const EncodeInt4 work) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::size_t warps = static_cast<std::size_t>(gridDim.x) * kWarps;
  for (std::size_t block = static_cast<std::size_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp; block < work.buckets();
       block += warps) {
    const EncodeInt4::Taken taken = work.plain(block) ? work.take<true>(block, lane) : work.take<false>(block, lane);
    work.give(block, lane, taken, largest_of_warp(EncodeInt4::magnitude(taken)));
  }
}

class Int4Codec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    const EncodeInt4 work{{bytes_of(in), in.size()}, out.data()};
    const unsigned blocks = blocks_for<encode_int4>(queue, (work.buckets() + kWarps - 1) / kWarps);
    start<encode_int4>(queue, blocks, work);
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_decode_levels(in.data(), EncodeInt4::kLevels, Int4Layout{out.size()}, kind == TransferKind::reduce,
                       bytes_of(out), out.size(), launching(queue));
  }
};

}  // namespace

extern constinit const CudaCodec kInt4{"int4", make_launched<Int4Codec>};

}  // namespace cuda
}  // namespace hbench
