#pragma once

/// The loops of `combine`, compiled once for each instruction set. Internal to the arithmetic.
///
/// No standard header with code in it: a function template of the library that is instantiated for AVX-512 here may be
/// the copy that the linker keeps for everybody.

#include <cstddef>

namespace hbench::arithmetic {

/// out = a[0] (op) a[1] ... (op) a[inputs - 1], element by element; up to `kMaxInputs` inputs, any alignment; `out` may
/// be one of them.
inline constexpr int kMaxInputs = 4;
using Fold = void (*)(const void* const* inputs, int count, void* out, std::size_t elements);
/// inout = inout / divisor.
using Divide = void (*)(void* inout, std::size_t elements, int divisor);

/// Types in which numbers are combined.
enum Value { kFloat, kDouble, kInt32, kInt64, kUint8, kValues };
/// `average` is a sum until it is divided.
enum Operation { kSum, kMin, kMax, kProduct, kOperations };

struct Kernels {
  const char* instructions;  ///< `avx2`
  bool (*supported)();
  Fold fold[kValues][kOperations];
  Divide divide[kValues];
  void (*widen_bfloat16)(const void* in, float* out, std::size_t elements);
  /// To nearest even; a NaN stays one.
  void (*narrow_bfloat16)(const float* in, void* out, std::size_t elements);
};

extern const Kernels kBaseline;
extern const Kernels kAvx2;    ///< x86-64 only
extern const Kernels kAvx512;  ///< x86-64 only

/// Those that this processor can run, the best first; the last is `kBaseline`.
struct KernelList {
  const Kernels* at[3];
  int count;
};
KernelList supported_kernels();

}  // namespace hbench::arithmetic
