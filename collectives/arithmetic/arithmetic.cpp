#include "collectives/arithmetic/arithmetic.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "collectives/compressors/half.hpp"

namespace hbench {
namespace {

/// How a type is stored, and what it is combined in.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static T load(T stored) { return stored; }
  static T store(T value) { return value; }
};

struct Half {
  using Stored = std::uint16_t;
  using Value = float;
  static float load(std::uint16_t stored) {
    float value = 0;
    kPortableHalves.widen(std::as_bytes(std::span(&stored, 1)), {&value, 1});
    return value;
  }
  static std::uint16_t store(float value) {
    std::uint16_t stored = 0;
    kPortableHalves.narrow({&value, 1}, std::as_writable_bytes(std::span(&stored, 1)));
    return stored;
  }
};

struct Bfloat {
  using Stored = std::uint16_t;
  using Value = float;
  static float load(std::uint16_t stored) { return std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16); }
  static std::uint16_t store(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
};

template <class T>
T combined(ReduceOp op, T a, T b) {
  // Integers wrap around, which signed arithmetic must not do.
  const auto wrap = [](auto f, T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(
          f(static_cast<std::uint64_t>(static_cast<U>(x)), static_cast<std::uint64_t>(static_cast<U>(y))));
    } else {
      return f(x, y);
    }
  };
  if constexpr (std::is_floating_point_v<T>)
    if (op == ReduceOp::min || op == ReduceOp::max)
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return wrap([](auto x, auto y) { return x + y; }, a, b);
    case ReduceOp::min:
      return b < a ? b : a;
    case ReduceOp::max:
      return a < b ? b : a;
    case ReduceOp::product:
      return wrap([](auto x, auto y) { return x * y; }, a, b);
  }
  return a;
}

template <class T>
T neutral(ReduceOp op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return 0;
    case ReduceOp::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case ReduceOp::max:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case ReduceOp::product:
      return 1;
  }
  return 0;
}

/// Calls `f` with the representation of `type`.
template <class F>
void with_type(DataType type, F f) {
  switch (type) {
    case DataType::float32:
      return f(Plain<float>());
    case DataType::float64:
      return f(Plain<double>());
    case DataType::float16:
      return f(Half());
    case DataType::bfloat16:
      return f(Bfloat());
    case DataType::int32:
      return f(Plain<std::int32_t>());
    case DataType::int64:
      return f(Plain<std::int64_t>());
    case DataType::uint8:
      return f(Plain<std::uint8_t>());
  }
}

template <class R>
typename R::Value load(const std::byte* at) {
  typename R::Stored stored;
  std::memcpy(&stored, at, sizeof stored);
  return R::load(stored);
}

template <class R>
void store(typename R::Value value, std::byte* at) {
  const typename R::Stored stored = R::store(value);
  std::memcpy(at, &stored, sizeof stored);
}

template <class T>
T divided(T value, int divisor) {
  return divisor == 1 ? value : static_cast<T>(value / static_cast<T>(divisor));
}

}  // namespace

void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) {
  const std::byte* const sources[] = {inout.data(), in.data()};
  std::byte* const targets[] = {inout.data()};
  combine(type, op, sources, targets, inout.size(), 1);
}

void combine(DataType type, ReduceOp op, std::span<const std::byte* const> sources, std::span<std::byte* const> targets,
             std::size_t bytes, int divisor) {
  with_type(type, [&]<class R>(R) {
    for (std::size_t at = 0; at < bytes; at += sizeof(typename R::Stored)) {
      auto value = load<R>(sources[0] + at);
      for (const std::byte* source : sources.subspan(1)) value = combined(op, value, load<R>(source + at));
      for (std::byte* target : targets) store<R>(divided(value, divisor), target + at);
    }
  });
}

void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) {
  with_type(type, [&]<class R>(R) {
    for (std::size_t at = 0; at < buffer.size(); at += sizeof(typename R::Stored))
      store<R>(neutral<typename R::Value>(op), buffer.data() + at);
  });
}

void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) {
  if (op != ReduceOp::average || workers == 1) return;
  const std::byte* const sources[] = {buffer.data()};
  std::byte* const targets[] = {buffer.data()};
  combine(type, ReduceOp::sum, sources, targets, buffer.size(), workers);
}

}  // namespace hbench
