#include "collectives/cuda/randomk.cuh"

#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launched_codec.hpp"

namespace hbench {
namespace cuda {
namespace {

class RandomKCodec final : public LaunchedCodec {
  using LaunchedCodec::LaunchedCodec;
  RandomSample sample(std::size_t elements) const {
    const auto bytes = static_cast<std::size_t>(max_wire_bytes(static_cast<std::int64_t>(elements)));
    return {elements, (bytes - sizeof(std::uint64_t)) / sizeof(float)};
  }
  void launch_encode(const Queue& queue, std::span<const float> in, const Draw& draw,
                     std::span<std::byte> out) const override {
    if (in.empty()) return;
    const EncodeRandomK work{bytes_of(in), out.data(), sample(in.size()), randomk_key(draw)};
    launch(queue, work, {.elements = work.sample.count});
  }
  void launch_decode(const Queue& queue, std::span<const std::byte> in, TransferKind kind,
                     std::span<float> out) const override {
    if (out.empty()) return;
    if (kind == TransferKind::copy)
      succeed(cudaMemsetAsync(out.data(), 0, out.size_bytes(), queue.stream), "clearing GPU memory");
    const AddRandomK work{in.data(), bytes_of(out), sample(out.size())};
    launch(queue, work, {.elements = work.sample.count});
  }
};

}  // namespace

extern constinit const CudaCodec kRandomK{"randomk", make_launched<RandomKCodec>};

}  // namespace cuda
}  // namespace hbench
