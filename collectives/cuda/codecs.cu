#include "collectives/cuda/codecs.hpp"

#include "collectives/cuda/codecs.cuh"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"

namespace hbench {
namespace cuda {
namespace {

constexpr unsigned kWarps = kThreads / EncodeInt8::kLanes;
/// Blocks of 256 that a warp loads before it encodes the first: four accesses of 16 bytes for each lane.
constexpr unsigned kBlocksInFlight = 2;

/// All lanes of a warp take the same way.
__global__ void __launch_bounds__(kThreads) encode_int8(const EncodeInt8 work) {
  const unsigned lane = threadIdx.x % EncodeInt8::kLanes;
  const std::size_t warps = static_cast<std::size_t>(gridDim.x) * kWarps;
  const std::size_t blocks = work.blocks();
  const bool aligned = work.aligned();
  for (std::size_t first = static_cast<std::size_t>(blockIdx.x) * kWarps + threadIdx.x / EncodeInt8::kLanes;
       first < blocks; first += kBlocksInFlight * warps) {
    if (aligned && work.whole(first + (kBlocksInFlight - 1) * warps)) {
      EncodeInt8::Taken taken[kBlocksInFlight];
      HBENCH_UNROLL
      for (unsigned i = 0; i < kBlocksInFlight; ++i) taken[i] = work.take<4>(first + i * warps, lane);
      HBENCH_UNROLL
      for (unsigned i = 0; i < kBlocksInFlight; ++i)
        work.give<4>(first + i * warps, lane, taken[i], largest_of_warp(EncodeInt8::magnitude(taken[i])));
    } else {
      for (std::size_t block = first; block < blocks && block < first + kBlocksInFlight * warps; block += warps) {
        const EncodeInt8::Taken taken = work.take<1>(block, lane);
        work.give<1>(block, lane, taken, largest_of_warp(EncodeInt8::magnitude(taken)));
      }
    }
  }
}

template <class Format>
class HalfCodec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    with_narrow<Format>(bytes_of(in), out.data(), in.size(), launching(queue));
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_widen<Format>(in.data(), kind == TransferKind::reduce, bytes_of(out), out.size(), launching(queue));
  }
};

class Int8Codec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    const EncodeInt8 work{bytes_of(in), out.data(), in.size()};
    constexpr std::size_t kShare = kWarps * kBlocksInFlight;
    const unsigned blocks = blocks_for<encode_int8>(queue, (work.blocks() + kShare - 1) / kShare);
    start<encode_int8>(queue, blocks, work);
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_decode_int8(in.data(), kind == TransferKind::reduce, bytes_of(out), out.size(), launching(queue));
  }
};

}  // namespace

extern constinit const CudaCodec kFp16{"fp16", make_launched<HalfCodec<Float16>>};
extern constinit const CudaCodec kBf16{"bf16", make_launched<HalfCodec<Bfloat16>>};
extern constinit const CudaCodec kInt8{"int8", make_launched<Int8Codec>};

}  // namespace cuda
}  // namespace hbench
