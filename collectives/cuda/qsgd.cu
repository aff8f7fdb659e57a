#include "collectives/cuda/qsgd.cuh"

#include <charconv>

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"

namespace hbench {
namespace cuda {
namespace {

constexpr unsigned kWarps = kThreads / kWarp;

/// All lanes of a warp take the same way.
template <class Work>
__global__ void __launch_bounds__(kThreads) encode_qsgd(const Work work) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::size_t warps = static_cast<std::size_t>(gridDim.x) * kWarps;
  for (std::size_t bucket = static_cast<std::size_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
       bucket < work.buckets(); bucket += warps) {
    if (work.plain(bucket)) {
      const auto taken = work.template take<true>(bucket, lane);
      work.template give<true>(bucket, lane, taken, largest_of_warp(Work::magnitude(taken)));
    } else {
      const auto taken = work.template take<false>(bucket, lane);
      work.template give<false>(bucket, lane, taken, largest_of_warp(Work::magnitude(taken)));
    }
  }
}

class QsgdCodec final : public LaunchedCodec {
 public:
  QsgdCodec(Device& device, const CompressorChoice& choice) : LaunchedCodec(device, choice) {
    std::from_chars(choice.parameters.data(), choice.parameters.data() + choice.parameters.size(), levels_);
  }

 private:
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw& draw,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    with_encode_qsgd(bytes_of(in), out.data(), in.size(), levels_, key_of(draw), [&]<class Work>(const Work& work) {
      const unsigned blocks = blocks_for<encode_qsgd<Work>>(queue, (work.buckets() + kWarps - 1) / kWarps);
      start<encode_qsgd<Work>>(queue, blocks, work);
    });
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    with_decode_qsgd(in.data(), levels_, kind == TransferKind::reduce, bytes_of(out), out.size(), launching(queue));
  }

  int levels_ = 0;  // the choice was parsed: its parameters are a whole number
};

}  // namespace

extern constinit const CudaCodec kQsgd{"qsgd", make_launched<QsgdCodec>};

}  // namespace cuda
}  // namespace hbench
