#pragma once

/// The operations that emulated GPUs were asked for, and which comes before which.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbench::emulated_gpu {

/// A state of all streams: element i is the tick of the last operation of stream i that has surely been done.
using Clock = std::vector<std::uint32_t>;
void join(Clock& into, const Clock& other);

/// Operations are numbered from 1 in the order in which they are enqueued; 0 is what came before all of them.
using OperationId = std::uint32_t;

/// A kernel, copy, allocation, event or message on a stream.
struct Operation {
  std::uint32_t stream = 0;
  std::uint32_t tick = 0;  ///< its number on its stream
  const char* name = "";
  const void* kernel = nullptr;  ///< the function, for reports; null where it is no kernel
};

/// Reserves memory for `bytes`, zeros, of which only what is touched takes any.
void* reserve(std::size_t bytes);

/// The operations of this process. Written by those who enqueue, under the scheduler's lock; read by the worker for
/// operations that it was given under that lock.
class Operations {
 public:
  Operations();
  OperationId add(const Operation& operation);
  const Operation& at(OperationId id) const { return all_[id]; }

 private:
  Operation* all_;
  OperationId last_ = 0;
};

/// The worker's present. There is one worker, and only it runs operations, so that these are plain variables.
struct Running {
  OperationId operation = 0;
  const Clock* clock = nullptr;  ///< of what comes before the operation
  int device = 0;
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint16_t interval = 0;                     ///< barriers of the block so far
  bool in_kernel = false;                         ///< a thread of a kernel has the processor
  std::uintptr_t stack_begin = 0, stack_end = 0;  ///< of that thread
};
extern Running running;
/// True on the worker's thread alone.
extern thread_local bool is_worker;

}  // namespace hbench::emulated_gpu
