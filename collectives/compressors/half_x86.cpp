// Compiled on x86-64 only; see half_absent.cpp. The attribute lets one program run on every x86-64 and
// still use F16C where `fast_halves` finds it.

#include <immintrin.h>

#include "collectives/compressors/half.hpp"

namespace hbench {
namespace {

constexpr std::size_t kLanes = 8;

__attribute__((target("avx2,f16c"))) void narrow(std::span<const float> floats, std::span<std::byte> halves) {
  std::size_t i = 0;
  for (; i + kLanes <= floats.size(); i += kLanes) {
    const __m256 wide = _mm256_loadu_ps(floats.data() + i);
    const __m128i half = _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves.data() + 2 * i), half);
  }
  kPortableHalves.narrow(floats.subspan(i), halves.subspan(2 * i));
}

__attribute__((target("avx2,f16c"))) void widen(std::span<const std::byte> halves, std::span<float> floats) {
  std::size_t i = 0;
  for (; i + kLanes <= floats.size(); i += kLanes) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves.data() + 2 * i));
    _mm256_storeu_ps(floats.data() + i, _mm256_cvtph_ps(half));
  }
  kPortableHalves.widen(halves.subspan(2 * i), floats.subspan(i));
}

__attribute__((target("avx2,f16c"))) void widen_and_add(std::span<const std::byte> halves, std::span<float> floats) {
  std::size_t i = 0;
  for (; i + kLanes <= floats.size(); i += kLanes) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves.data() + 2 * i));
    const __m256 sum = _mm256_add_ps(_mm256_loadu_ps(floats.data() + i), _mm256_cvtph_ps(half));
    _mm256_storeu_ps(floats.data() + i, sum);
  }
  kPortableHalves.widen_and_add(halves.subspan(2 * i), floats.subspan(i));
}

constexpr HalfConversion kF16c{narrow, widen, widen_and_add};

}  // namespace

const HalfConversion* fast_halves() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? &kF16c : nullptr;
}

}  // namespace hbench
