#include "tests/emulated_gpu/fiber.hpp"

#include <sys/mman.h>

#include "tests/emulated_gpu/operations.hpp"

// Saves what a called function must keep (System V ABI, x86-64) on the stack and goes on with another stack. ucontext
// would ask the kernel for the mask of signals each time; a kernel of CUDA has thousands of switches.
extern "C" void emulated_gpu_switch(void** saved, void* other);
asm(R"(
.text
.globl emulated_gpu_switch
.type emulated_gpu_switch, @function
emulated_gpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulated_gpu_switch, .-emulated_gpu_switch
)");

namespace hbench::emulated_gpu {
namespace {

constexpr std::size_t kSavedRegisters = 6;
constexpr std::size_t kGuard = 4096;

}  // namespace

void Fiber::begin(void (*body)()) {
  auto* top = reinterpret_cast<void**>(stack_ + kStackBytes);
  *--top = nullptr;  // where `body` would return to; it also aligns the stack as a call does
  *--top = reinterpret_cast<void*>(body);
  for (std::size_t i = 0; i < kSavedRegisters; ++i) *--top = nullptr;
  pointer_ = top;
}

void Fiber::resume() { emulated_gpu_switch(&executor_, pointer_); }

void Fiber::suspend() { emulated_gpu_switch(&pointer_, executor_); }

std::vector<Fiber> make_fibers(std::size_t count) {
  constexpr std::size_t kEach = Fiber::kStackBytes + kGuard;
  auto* const stacks = static_cast<char*>(reserve(count * kEach));
  std::vector<Fiber> fibers;
  for (std::size_t i = 0; i < count; ++i) {
    mprotect(stacks + i * kEach, kGuard, PROT_NONE);
    fibers.emplace_back(stacks + i * kEach + kGuard);
  }
  return fibers;
}

}  // namespace hbench::emulated_gpu
