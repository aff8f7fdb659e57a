#pragma once

/// A thread of a block: a function with a stack of its own that gives the processor away and is given it again.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hbench::emulated_gpu {

class Fiber {
 public:
  /// On a stack of its own, with a page before it that nobody may touch.
  explicit Fiber(char* stack) : stack_(stack) {}

  /// Runs `body` on the stack when it is resumed first. `body` never returns: it ends by `suspend`.
  void begin(void (*body)());
  /// Called by the executor: runs the fiber until it suspends.
  void resume();
  /// Called on the fiber's own stack: goes on behind `resume`.
  void suspend();

  std::uintptr_t stack_begin() const { return reinterpret_cast<std::uintptr_t>(stack_); }
  std::uintptr_t stack_end() const { return stack_begin() + kStackBytes; }

  static constexpr std::size_t kStackBytes = 60 << 10;

 private:
  char* stack_;
  void* pointer_ = nullptr;   ///< of the fiber's stack, while it is suspended
  void* executor_ = nullptr;  ///< of the executor's, while the fiber runs
};

std::vector<Fiber> make_fibers(std::size_t count);

}  // namespace hbench::emulated_gpu
