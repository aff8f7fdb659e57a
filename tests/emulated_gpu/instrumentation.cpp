// The functions that g++ -fsanitize=thread,alignment calls at each access, in the place of libtsan and libubsan.

#include <cstdint>

#include "tests/emulated_gpu/checker.hpp"
#include "tests/emulated_gpu/operations.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace {

using hbench::emulated_gpu::AccessKind;

void check(const volatile void* at, std::size_t size, AccessKind kind, bool aligned, const void* place) {
  hbench::emulated_gpu::check_kernel_access({reinterpret_cast<std::uintptr_t>(at), size, kind, place}, aligned);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler's names.
#define HBENCH_PLACE __builtin_return_address(0)
#define HBENCH_ACCESSES(size)                                                                            \
  void __tsan_read##size(void* at) { check(at, size, AccessKind::read, true, HBENCH_PLACE); }            \
  void __tsan_write##size(void* at) { check(at, size, AccessKind::write, true, HBENCH_PLACE); }          \
  void __tsan_volatile_read##size(void* at) { check(at, size, AccessKind::read, true, HBENCH_PLACE); }   \
  void __tsan_volatile_write##size(void* at) { check(at, size, AccessKind::write, true, HBENCH_PLACE); } \
  void __tsan_unaligned_read##size(void* at) { check(at, size, AccessKind::read, false, HBENCH_PLACE); } \
  void __tsan_unaligned_write##size(void* at) { check(at, size, AccessKind::write, false, HBENCH_PLACE); }

extern "C" {

HBENCH_ACCESSES(1)
HBENCH_ACCESSES(2)
HBENCH_ACCESSES(4)
HBENCH_ACCESSES(8)
HBENCH_ACCESSES(16)

void __tsan_read_range(void* at, std::size_t size) { check(at, size, AccessKind::read, false, HBENCH_PLACE); }
void __tsan_write_range(void* at, std::size_t size) { check(at, size, AccessKind::write, false, HBENCH_PLACE); }

// g++ takes accesses of whole structures apart before it calls what is above: their alignment is that of the pointer.
void __ubsan_handle_type_mismatch_v1(void*, std::uintptr_t pointer) {
  using namespace hbench::emulated_gpu;  // NOLINT(google-build-using-namespace)
  if (is_worker && running.in_kernel) report(Mistake::misaligned, "access by a pointer that is not", HBENCH_PLACE);
  static_cast<void>(pointer);
}

// The host's code in the same files calls these.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
unsigned char __tsan_atomic8_load(const volatile unsigned char* at, int) {
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
int __tsan_atomic32_fetch_add(volatile int* at, int value, int) {
  return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
