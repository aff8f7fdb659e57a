// The speed at which a rank's state of 102 MB, as much as a ResNet-50's parameters, gets to the disk as a checkpoint.
// In turn with it the same bytes are written as `dd bs=1M conv=fsync` writes them; medians.
//
// `of_dd`: the speed of the checkpoint, its copy, checksum and renaming included, over that of the bare file.
// `stall_ms`: for how long the training waits, which goes on while the file is written.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

#include "bench/micro/in_turn.hpp"
#include "collectives/base/file.hpp"
#include "workloads/engine/checkpoint.hpp"

namespace hbench {
namespace {

constexpr std::size_t kBytes = 102'228'128;
constexpr std::size_t kBlock = std::size_t{1} << 20;

std::vector<std::byte> random_state() {
  std::vector<std::byte> state(kBytes);
  std::minstd_rand random;
  for (std::byte& byte : state) byte = static_cast<std::byte>(random() >> 8);
  return state;
}

void write_bare(const std::filesystem::path& path, std::span<const std::byte> state) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (; !state.empty(); state = state.subspan(std::min(kBlock, state.size())))
    if (write(file, state.data(), std::min(kBlock, state.size())) < 0) std::abort();
  if (fsync(file) != 0 || close(file) != 0) std::abort();
}

void checkpoint_of_a_resnet50(benchmark::State& state) {
  const ScratchFolder folder;
  std::vector<std::byte> bytes = random_state();
  std::vector<double> stalls, ours, bare;
  Checkpoints checkpoints({.folder = folder.path() / "checkpoints", .every = 1}, "benchmark", 0, 1,
                          [&](const CheckpointReport& report) { stalls.push_back(report.stall.value); });
  const Checkpoints::Walks walks{[&](StateWalk& walk) { walk.bytes("parameters", bytes); }, [](StateWalk&) {}};
  int step = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    checkpoints.see(++step, walks);
    checkpoints.finish();
    ours.push_back(seconds_since(begin));
    const auto again = std::chrono::steady_clock::now();
    write_bare(folder.path() / "bare", bytes);
    bare.push_back(seconds_since(again));
    state.SetIterationTime(ours.back());
  }
  state.counters["of_dd"] = median(bare) / median(ours);
  state.counters["MB_per_s"] = kBytes * 1e-6 / median(ours);
  state.counters["stall_ms"] = median(stalls) * 1e3;
}
BENCHMARK(checkpoint_of_a_resnet50)->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(3);

}  // namespace
}  // namespace hbench

BENCHMARK_MAIN();
