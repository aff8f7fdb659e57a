#pragma once

/// What lets a header be compiled for the device by nvcc and for the host by g++, and memory accesses that are the same
/// on both. What kernels do lies in such headers, so that machines without a GPU can test it.

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define HBENCH_ON_BOTH __host__ __device__ __forceinline__
#else
#define HBENCH_ON_BOTH inline
#endif
#ifdef __CUDA_ARCH__
#define HBENCH_UNROLL _Pragma("unroll")
#else
#define HBENCH_UNROLL
#endif

namespace hbench::cuda {

/// The same bytes as another type.
template <class To, class From>
HBENCH_ON_BOTH To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// Of `largest` and the magnitudes of all values, as bits, which order like them; those of NaN are above all.
template <std::size_t kCount>
HBENCH_ON_BOTH std::uint32_t largest_magnitude(const float (&values)[kCount], std::uint32_t largest = 0) {
  HBENCH_UNROLL
  for (const float x : values) {
    const std::uint32_t magnitude = same_bits<std::uint32_t>(x) & 0x7fff'ffff;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/// Neighbours that one thread takes at once.
template <class T, int kCount>
struct Group {
  T at[kCount];
};

/// At an address of any alignment; fast where it is T's own.
template <class T>
HBENCH_ON_BOTH T load_one(const std::byte* at) {
#ifdef __CUDA_ARCH__
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) == 0) return *reinterpret_cast<const T*>(at);
  unsigned char bytes[sizeof(T)];
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) bytes[i] = reinterpret_cast<const unsigned char*>(at)[i];
#else
  const std::byte* const bytes = at;
#endif
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
HBENCH_ON_BOTH void store_one(std::byte* at, T value) {
#ifdef __CUDA_ARCH__
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) == 0) {
    *reinterpret_cast<T*>(at) = value;
    return;
  }
  unsigned char bytes[sizeof(T)];
  memcpy(bytes, &value, sizeof value);
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) reinterpret_cast<unsigned char*>(at)[i] = bytes[i];
#else
  memcpy(at, &value, sizeof value);
#endif
}

/// \pre `at` is aligned as T is.
template <class T>
HBENCH_ON_BOTH T load_aligned(const std::byte* at) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const T*>(at);
#else
  return load_one<T>(at);
#endif
}

HBENCH_ON_BOTH unsigned count_bits(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__popc(bits));
#else
  return static_cast<unsigned>(__builtin_popcount(bits));
#endif
}

/// Conversions for which GPUs have an instruction, where there is one; which NaN they make of NaN is theirs. The host
/// has none, and is not asked; the emulated GPU of the tests has functions of the same names.
#ifdef __CUDA_ARCH__
constexpr bool kConvertsHalves = true;
__device__ __forceinline__ std::uint16_t convert_to_half(float x) {
#ifdef __NVCC__
  std::uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
#else
  return cvt_rn_f16_f32(x);
#endif
}
__device__ __forceinline__ float convert_from_half(std::uint16_t half) {
#ifdef __NVCC__
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
#else
  return cvt_f32_f16(half);
#endif
}
#else
constexpr bool kConvertsHalves = false;
HBENCH_ON_BOTH std::uint16_t convert_to_half(float) { return 0; }
HBENCH_ON_BOTH float convert_from_half(std::uint16_t) { return 0; }
#endif

#ifdef __CUDA_ARCH__
/// What one instruction loads or stores.
template <int kBytes>
struct WordOf;
template <>
struct WordOf<4> {
  using Type = unsigned int;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
#endif

/// Loads a group by one access of 4, 8 or 16 bytes. \pre `at` is aligned to the bytes of the group; a group of one may
/// lie anywhere.
template <class T, int kCount>
HBENCH_ON_BOTH Group<T, kCount> load(const std::byte* at) {
  Group<T, kCount> group;
  if constexpr (kCount == 1) {
    group.at[0] = load_one<T>(at);
  } else {
#ifdef __CUDA_ARCH__
    const auto word = *reinterpret_cast<const typename WordOf<sizeof group>::Type*>(at);
    memcpy(&group, &word, sizeof group);
#else
    memcpy(&group, at, sizeof group);
#endif
  }
  return group;
}

template <class T, int kCount>
HBENCH_ON_BOTH void store(std::byte* at, const Group<T, kCount>& group) {
  if constexpr (kCount == 1) {
    store_one(at, group.at[0]);
  } else {
#ifdef __CUDA_ARCH__
    typename WordOf<sizeof group>::Type word;
    memcpy(&word, &group, sizeof group);
    *reinterpret_cast<decltype(word)*>(at) = word;
#else
    memcpy(at, &group, sizeof group);
#endif
  }
}

/// A group as it was loaded, until it is used: taken apart, each byte of it would have a register.
template <class T, int kCount>
struct Packed {
  std::uint32_t words[(sizeof(Group<T, kCount>) + 3) / 4];

  HBENCH_ON_BOTH Group<T, kCount> group() const {
    Group<T, kCount> group;
    memcpy(&group, words, sizeof group);
    return group;
  }
};

/// As `load`.
template <class T, int kCount>
HBENCH_ON_BOTH Packed<T, kCount> load_packed(const std::byte* at) {
  const Group<T, kCount> group = load<T, kCount>(at);
  Packed<T, kCount> packed;
  memcpy(packed.words, &group, sizeof group);
  return packed;
}

}  // namespace hbench::cuda
