#include "collectives/cuda/sign.cuh"

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"
#include "collectives/cuda/sign_lanes.cuh"

namespace hbench {
namespace cuda {
namespace {

constexpr unsigned kPieces = kThreads / kSignLanes;  // of a block
static_assert(kThreads == sign_sums::kAdders);

/// Two pieces to a warp.
__global__ void __launch_bounds__(kThreads) encode_sign(const EncodeSign work, Signed<double>* sums) {
  const unsigned lane = threadIdx.x % kSignLanes;
  const std::size_t piece = static_cast<std::size_t>(blockIdx.x) * kPieces + threadIdx.x / kSignLanes;
  const SignedPart found = encode_part(work, work.part(piece), lane);
  if (lane == 0 && piece < work.pieces()) sums[piece] = found.sums;
}

/// One block.
__global__ void __launch_bounds__(kThreads)
    scale_signs(const Signed<double>* sums, std::size_t pieces, std::size_t elements, std::byte* scale) {
  __shared__ Signed<double> adders[kThreads];
  adders[threadIdx.x] = add_pieces(sums, pieces, threadIdx.x);
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    adders[threadIdx.x].positive += adders[threadIdx.x + half].positive;
    adders[threadIdx.x].negative += adders[threadIdx.x + half].negative;
  }
  if (threadIdx.x == 0) store_one(scale, sign_scale(adders[0], elements));
}

class SignCodec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;

  void launch_encode(const Queue& queue, std::span<const float> in, const Draw&,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    const EncodeSign work{bytes_of(in), out.data() + sizeof(float), in.size()};
    const std::size_t pieces = work.pieces();
    auto* const sums = reinterpret_cast<Signed<double>*>(workspace().of(pieces * sizeof(Signed<double>)));
    const auto blocks = static_cast<unsigned>((pieces + kPieces - 1) / kPieces);
    start<encode_sign>(queue, blocks, work, sums);
    start<scale_signs>(queue, 1, sums, pieces, in.size(), out.data());
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_decode_sign(in.data(), kind == TransferKind::reduce, bytes_of(out), out.size(), launching(queue));
  }
};

}  // namespace

extern constinit const CudaCodec kSign{"sign", make_launched<SignCodec>};

}  // namespace cuda
}  // namespace hbench
