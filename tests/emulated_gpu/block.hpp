#pragma once

/// Executes kernels: block after block, each of whose threads is a fiber that runs until it meets the others.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "tests/emulated_gpu/fiber.hpp"
#include "tests/emulated_gpu/kernel.hpp"
#include "tests/emulated_gpu/warp.hpp"

namespace hbench::emulated_gpu {

constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kMostArgumentBytes = 4096;

/// A launch as it is left to the worker.
struct Grid {
  dim3 blocks, threads;
  std::vector<char> arguments;
  void (*body)(const void* arguments) = nullptr;
};

/// Runs grids, one at a time, on the worker's thread.
class BlockExecutor {
 public:
  BlockExecutor();
  /// With a seed other than 0, blocks and threads run in an order that depends on it.
  void run(const Grid& grid, std::mt19937_64* order);

  // For the thread that has the processor.
  uint3 thread_index() const;
  uint3 block_index() const { return block_; }
  dim3 block_size() const { return grid_->threads; }
  dim3 grid_size() const { return grid_->blocks; }
  void barrier(Site site);
  std::uint64_t exchange(WarpOperation operation, unsigned mask, const WarpArgument& argument, Site site);

  static BlockExecutor& instance();

 private:
  enum class State : std::uint8_t { ready, at_barrier, in_warp, ended };

  void run_block(std::uint32_t index);
  void resume(unsigned thread);
  void suspend(State state);
  void run_thread();
  void end_thread();
  void open_barrier();
  void complete_exchange(Warp& warp);
  void make_ready(unsigned thread);
  unsigned next_ready();
  void report_deadlock() const;
  Warp& warp_of_current() { return warps_[current_ / Warp::kLanes]; }

  std::vector<Fiber> fibers_;
  std::vector<State> states_;
  std::vector<Warp> warps_;
  std::deque<unsigned> ready_;
  const Grid* grid_ = nullptr;
  std::mt19937_64* order_ = nullptr;
  uint3 block_{};
  unsigned threads_ = 0, alive_ = 0, at_barrier_ = 0, current_ = 0;
  Site barrier_{};
};

}  // namespace hbench::emulated_gpu
