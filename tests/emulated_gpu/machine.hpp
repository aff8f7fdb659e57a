#pragma once

/// The emulated GPUs of this process.

#include <cuda_runtime_api.h>
#include <sys/types.h>

#include <array>

#include "tests/emulated_gpu/arena.hpp"
#include "tests/emulated_gpu/operations.hpp"
#include "tests/emulated_gpu/scheduler.hpp"

namespace hbench::emulated_gpu {

/// Which GPU reaches whose memory. What was opened stays open.
struct Peers {
  bool enabled[kDevices][kDevices] = {};       ///< [who][whose]: memory of cudaMalloc
  bool pool_is_open[kDevices][kDevices] = {};  ///< [whose][who]
};

/// Few, so that small grids fill a GPU.
constexpr int kMultiprocessors = 3;
constexpr int kBlocksEach = 2;

struct Machine {
  Machine();

  Operations operations;
  Arena arena;
  Peers peers;
  Scheduler scheduler;
  std::array<Stream*, kDevices> default_streams;
  pid_t process;
  std::atomic<int> visible_devices{2};
};

extern std::atomic<Machine*> made_machine;
Machine& make_machine();
/// Made by its first use.
inline Machine& machine() {
  Machine* const made = made_machine.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_machine();
}

/// True in a process that was forked from one that had used the GPUs, which CUDA does not survive.
bool was_forked();
/// The forked process forgets that and has GPUs of its own.
void start_anew_after_fork();

/// Sets how many of the three GPUs CUDA finds, as CUDA_VISIBLE_DEVICES does: 2 at first.
void show_devices(int count);
/// Waits for everything that was enqueued on any stream.
void drain();

}  // namespace hbench::emulated_gpu
