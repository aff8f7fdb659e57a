#include "collectives/cuda/onebit.cuh"

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"
#include "collectives/cuda/sign_lanes.cuh"

namespace hbench {
namespace cuda {
namespace {

constexpr unsigned kBlocks = kThreads / kSignLanes;  // of elements, of a block of threads

/// Two blocks of elements to a warp.
__global__ void __launch_bounds__(kThreads) encode_onebit(const EncodeOneBit work) {
  const unsigned lane = threadIdx.x % kSignLanes;
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * kBlocks + threadIdx.x / kSignLanes;
  const EncodeSign block = work.block(index);
  Signed<double> sums{0, 0};
  unsigned negatives = 0;
  for (unsigned part = 0; part < EncodeOneBit::kParts; ++part) {
    const SignedPart found = encode_part(block, block.part(part), lane);
    sums.positive += found.sums.positive;
    sums.negative += found.sums.negative;
    negatives += found.negatives;
  }
  if (lane == 0 && index < work.blocks()) work.give(index, sums, negatives);
}

class OneBitCodec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    const EncodeOneBit work{bytes_of(in), out.data(), in.size()};
    const auto blocks = static_cast<unsigned>((work.blocks() + kBlocks - 1) / kBlocks);
    start<encode_onebit>(queue, blocks, work);
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_decode_onebit(in.data(), kind == TransferKind::reduce, bytes_of(out), out.size(), launching(queue));
  }
};

}  // namespace

extern constinit const CudaCodec kOneBit{"onebit", make_launched<OneBitCodec>};

}  // namespace cuda
}  // namespace hbench
