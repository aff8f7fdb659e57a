// Our top-k beside LibTorch's, on one core: the largest 1 % of 25 M normally distributed elements.
//
// `speed_up` is the ratio of medians of times that were taken in turn. Both give positions and values; LibTorch is
// given the magnitudes, which we work out ourselves, and need not sort. Run: topk_torch_benchmark
// --benchmark_min_time=10

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/topk.h>
#include <benchmark/benchmark.h>

#include "bench/micro/in_turn.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench {
namespace {

void topk(benchmark::State& state) {
  constexpr std::int64_t kElements = 25'000'000;
  constexpr std::int64_t kWanted = kElements / 100;
  at::set_num_threads(1);
  at::manual_seed(1);
  const at::Tensor values = at::randn({kElements});
  const at::Tensor magnitudes = values.abs();
  const CompressorChoice choice = parse_compressor("topk:0.01");
  std::vector<std::byte> wire(static_cast<std::size_t>(choice.codec->max_wire_bytes(kElements)));
  const std::span<const float> floats(values.data_ptr<float>(), static_cast<std::size_t>(kElements));
  const Alternation times = alternate(
      state, [&] { choice.codec->encode(floats, {}, wire); },
      [&] { benchmark::DoNotOptimize(at::topk(magnitudes, kWanted, 0, true, /*sorted=*/false)); });
  state.counters["torch_ms"] = times.reference * 1e3;
  state.counters["speed_up"] = times.reference / times.work;
}
BENCHMARK(topk)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hbench

BENCHMARK_MAIN();
