#include "collectives/arithmetic/kernels.hpp"

#include <cstdint>
#include <cstring>

#include "collectives/arithmetic/arithmetic.hpp"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/arithmetic/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::arithmetic::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::VFromD<Tag<T>>;

#if HWY_TARGET == HWY_SCALAR

template <class T>
HWY_INLINE Vector<T> load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return hn::Set(Tag<T>(), value);
}

template <class T>
HWY_INLINE void store(Vector<T> value, std::byte* at) {
  const T lane = hn::GetLane(value);
  std::memcpy(at, &lane, sizeof lane);
}

template <class T>
HWY_INLINE Vector<T> multiply(Vector<T> a, Vector<T> b) {
  if constexpr (hwy::IsFloat<T>()) return hn::Mul(a, b);
  // Integers wrap around, which signed arithmetic must not do.
  const auto product = static_cast<std::uint64_t>(hn::GetLane(a)) * static_cast<std::uint64_t>(hn::GetLane(b));
  return hn::Set(Tag<T>(), static_cast<T>(product));
}

#else

/// Elements lie at any address, their bytes too.
template <class T>
HWY_INLINE Vector<T> load(const std::byte* at) {
  const hn::Repartition<std::uint8_t, Tag<T>> bytes;
  return hn::BitCast(Tag<T>(), hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(at)));
}

template <class T>
HWY_INLINE void store(Vector<T> values, std::byte* at) {
  const hn::Repartition<std::uint8_t, Tag<T>> bytes;
  hn::StoreU(hn::BitCast(bytes, values), bytes, reinterpret_cast<std::uint8_t*>(at));
}

template <class T>
HWY_INLINE Vector<T> multiply(Vector<T> a, Vector<T> b) {
  return hn::Mul(a, b);
}

/// Highway multiplies neither bytes nor, everywhere, 64 bits.
template <>
HWY_INLINE Vector<std::uint8_t> multiply<std::uint8_t>(Vector<std::uint8_t> a, Vector<std::uint8_t> b) {
  const Tag<std::uint8_t> bytes;
  const hn::Repartition<std::uint16_t, Tag<std::uint8_t>> pairs;
  const auto a2 = hn::BitCast(pairs, a);
  const auto b2 = hn::BitCast(pairs, b);
  const auto low = hn::And(hn::Mul(a2, b2), hn::Set(pairs, 0xff));
  const auto high = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a2), hn::ShiftRight<8>(b2)));
  return hn::BitCast(bytes, hn::Or(low, high));
}

template <>
HWY_INLINE Vector<std::int64_t> multiply<std::int64_t>(Vector<std::int64_t> a, Vector<std::int64_t> b) {
  const Tag<std::int64_t> words;
  const Tag<std::uint64_t> unsigned_words;
  const hn::Repartition<std::uint32_t, Tag<std::int64_t>> halves;
  const auto low = [&](auto x) HWY_ATTR { return hn::BitCast(halves, x); };
  const auto high = [&](auto x) HWY_ATTR { return low(hn::ShiftRight<32>(hn::BitCast(unsigned_words, x))); };
  const auto crossed = hn::Add(hn::MulEven(low(a), high(b)), hn::MulEven(high(a), low(b)));
  return hn::BitCast(words, hn::Add(hn::MulEven(low(a), low(b)), hn::ShiftLeft<32>(crossed)));
}

#endif

template <ReduceOp op, class T>
HWY_INLINE Vector<T> apply(Vector<T> a, Vector<T> b) {
  if constexpr (op == ReduceOp::sum) return hn::Add(a, b);
  if constexpr (op == ReduceOp::product) return multiply<T>(a, b);
  if constexpr (op == ReduceOp::min || op == ReduceOp::max) {
    if constexpr (hwy::IsFloat<T>()) {
      // A NaN in either operand gives NaN; one in `a` compares as false, and `a` stays.
      const auto better = op == ReduceOp::min ? hn::Lt(b, a) : hn::Lt(a, b);
      return hn::IfThenElse(hn::Or(better, hn::IsNaN(b)), b, a);
    } else {
      return op == ReduceOp::min ? hn::Min(a, b) : hn::Max(a, b);
    }
  }
}

template <class T>
HWY_INLINE Vector<T> divide(Vector<T> values, int divisor) {
  const Tag<T> tag;
  if constexpr (hwy::IsFloat<T>()) {
    return hn::Div(values, hn::Set(tag, static_cast<T>(divisor)));
  } else {
    // No processor divides vectors of integers.
    HWY_ALIGN T lanes[hn::MaxLanes(Tag<T>())];
    hn::Store(values, tag, lanes);
    for (T& lane : lanes) lane = static_cast<T>(static_cast<std::int64_t>(lane) / divisor);
    return hn::Load(tag, lanes);
  }
}

/// One vector at `at`: all sources are read, then all targets written. Many streams at once are what memory serves
/// fastest: 1.3 times as fast as one buffer after the other in pieces of any size, for 8 buffers that fit in no cache.
template <class T, ReduceOp op>
HWY_INLINE void combine_vector(const std::byte* const* sources, std::size_t source_count, std::byte* const* targets,
                               std::size_t target_count, std::size_t at, int divisor) {
  auto values = load<T>(sources[0] + at);
  for (std::size_t i = 1; i < source_count; ++i) values = apply<op, T>(values, load<T>(sources[i] + at));
  if (divisor != 1) values = divide<T>(values, divisor);
  for (std::size_t i = 0; i < target_count; ++i) store<T>(values, targets[i] + at);
}

/// What is left fills no vector.
template <class T, ReduceOp op>
HWY_NOINLINE void combine_rest(const std::byte* const* sources, std::size_t source_count, std::byte* const* targets,
                               std::size_t target_count, std::size_t at, std::size_t bytes, int divisor) {
  HWY_ALIGN std::byte result[hn::MaxLanes(Tag<T>()) * sizeof(T)] = {};
  HWY_ALIGN std::byte next[sizeof result] = {};
  std::byte* const own[] = {result};
  std::memcpy(result, sources[0] + at, bytes);
  for (std::size_t i = 1; i < source_count; ++i) {
    std::memcpy(next, sources[i] + at, bytes);
    const std::byte* const both[] = {result, next};
    combine_vector<T, op>(both, 2, own, 1, 0, 1);
  }
  const std::byte* const sum[] = {result};
  combine_vector<T, op>(sum, 1, own, 1, 0, divisor);
  for (std::size_t i = 0; i < target_count; ++i) std::memcpy(targets[i] + at, result, bytes);
}

template <class T, ReduceOp op>
void combine(const std::byte* const* sources, std::size_t source_count, std::byte* const* targets,
             std::size_t target_count, std::size_t bytes, int divisor) {
  const std::size_t step = hn::Lanes(Tag<T>()) * sizeof(T);
  std::size_t at = 0;
  for (; at + step <= bytes; at += step)
    combine_vector<T, op>(sources, source_count, targets, target_count, at, divisor);
  if (at < bytes) combine_rest<T, op>(sources, source_count, targets, target_count, at, bytes - at, divisor);
}

template <class T>
constexpr std::array kByOperation{&combine<T, ReduceOp::sum>, &combine<T, ReduceOp::sum>, &combine<T, ReduceOp::min>,
                                  &combine<T, ReduceOp::max>, &combine<T, ReduceOp::product>};

constexpr Kernels kKernels{kByOperation<float>,       kByOperation<double>,       kByOperation<float>,
                           kByOperation<float>,       kByOperation<std::int32_t>, kByOperation<std::int64_t>,
                           kByOperation<std::uint8_t>};

const Kernels* table() { return &kKernels; }

}  // namespace
}  // namespace hbench::arithmetic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench::arithmetic {

HWY_EXPORT(table);

const Kernels& kernels() { return *HWY_DYNAMIC_DISPATCH(table)(); }

}  // namespace hbench::arithmetic
#endif
