// Our top-k on a GPU beside LibTorch's: the largest 1 % of 138 M normally distributed elements, a VGG-16's gradient.
//
// `speed_up` is the ratio of medians of times that were taken in turn. Both give positions and values; LibTorch is
// given the magnitudes, which we work out ourselves, and need not sort. Run: topk_cuda_benchmark

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/topk.h>
#include <benchmark/benchmark.h>

#include <cstdio>
#include <vector>

#include "bench/micro/in_turn.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

void topk(benchmark::State& state) {
  constexpr std::int64_t kElements = 138'357'544;
  constexpr std::int64_t kWanted = kElements / 100;
  at::manual_seed(1);
  const at::Tensor values = at::randn({kElements}, at::TensorOptions().device(at::kCUDA));
  const at::Tensor magnitudes = values.abs();
  // Both work on LibTorch's stream.
  const auto device = make_default_cuda_device(0);
  const std::shared_ptr<const Codec> codec = device->codec_of(parse_compressor("topk:0.01"));
  const auto bytes = static_cast<std::size_t>(codec->max_wire_bytes(kElements));
  const DeviceMemory wire = device->allocate(bytes);
  const std::span<const float> floats(values.data_ptr<float>(), static_cast<std::size_t>(kElements));
  const auto ours = [&] { codec->encode(floats, {}, {wire.get(), bytes}); };
  const auto torchs = [&] { benchmark::DoNotOptimize(at::topk(magnitudes, kWanted, 0, true, /*sorted=*/false)); };
  timed(*device, 1, ours);
  timed(*device, 1, torchs);
  std::vector<double> of_ours, of_torchs;
  for (auto _ : state) {
    of_torchs.push_back(timed(*device, 1, torchs));
    of_ours.push_back(timed(*device, 1, ours));
    state.SetIterationTime(of_ours.back());
  }
  state.counters["torch_ms"] = median(of_torchs) * 1e3;
  state.counters["speed_up"] = median(of_torchs) / median(of_ours);
}
BENCHMARK(topk)->Iterations(15)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  if (const hbench::Availability gpu = hbench::gpu_training_availability(); !gpu.available) {
    std::fprintf(stderr, "no GPU that LibTorch can use: %s\n", gpu.in_words().c_str());
    return 3;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
