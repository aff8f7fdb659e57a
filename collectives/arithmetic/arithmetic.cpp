#include "collectives/arithmetic/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "collectives/arithmetic/half.hpp"
#include "collectives/base/table.hpp"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/arithmetic/arithmetic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

namespace hbench::arithmetic {

/// As hbench::combine, on elements that are combined as they are stored; at least one source, any alignment.
using Combine = void (*)(const std::byte* const* sources, std::size_t source_count, std::byte* const* targets,
                         std::size_t target_count, std::size_t bytes, int divisor);

/// By data type and operation: halves are combined as float32, and `average` is a sum that is divided.
using Kernels = std::array<std::array<Combine, 5>, 7>;

}  // namespace hbench::arithmetic

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
namespace hbench {
namespace arithmetic {

HWY_EXPORT(table);

/// For this processor.
const Kernels& kernels() { return *HWY_DYNAMIC_DISPATCH(table)(); }

}  // namespace arithmetic
namespace {

/// The number of elements of 16 bits that are combined in float32 at once: what is partial stays in the first-level
/// cache.
constexpr std::size_t kTile = 1024;

/// The formats of 16 bits; null for the others.
const HalfConversion* conversion_of(DataType type) {
  if (type == DataType::float16) return &float16_conversion();
  if (type == DataType::bfloat16) return &bfloat16_conversion();
  return nullptr;
}

arithmetic::Combine kernel(DataType type, ReduceOp op) {
  return arithmetic::kernels()[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
}

void combine_halves(const HalfConversion& conversion, arithmetic::Combine combine_floats,
                    std::span<const std::byte* const> sources, std::span<std::byte* const> targets, std::size_t bytes,
                    int divisor) {
  constexpr std::size_t kHalf = 2;
  alignas(64) std::array<float, kTile> partial;
  alignas(64) std::array<float, kTile> next;
  auto* const result = reinterpret_cast<std::byte*>(partial.data());
  const std::byte* const both[] = {result, reinterpret_cast<const std::byte*>(next.data())};
  for (std::size_t at = 0; at < bytes; at += kHalf * kTile) {
    const std::size_t tile = std::min(kHalf * kTile, bytes - at);
    const std::size_t elements = tile / kHalf;
    conversion.widen({sources[0] + at, tile}, {partial.data(), elements});
    for (const std::byte* source : sources.subspan(1)) {
      conversion.widen({source + at, tile}, {next.data(), elements});
      combine_floats(both, 2, &result, 1, elements * sizeof(float), 1);
    }
    if (divisor != 1) combine_floats(both, 1, &result, 1, elements * sizeof(float), divisor);
    conversion.narrow({partial.data(), elements}, {targets[0] + at, tile});
    for (std::byte* target : targets.subspan(1)) std::memmove(target + at, targets[0] + at, tile);
  }
}

template <class T>
void fill(T value, std::span<std::byte> buffer) {
  for (std::size_t at = 0; at + sizeof value <= buffer.size(); at += sizeof value)
    std::memcpy(buffer.data() + at, &value, sizeof value);
}

void fill_halves(const HalfConversion& conversion, ReduceOp op, std::span<std::byte> buffer) {
  const auto value = neutral<float>(op);
  std::uint16_t stored = 0;
  conversion.narrow({&value, 1}, std::as_writable_bytes(std::span(&stored, 1)));
  fill(stored, buffer);
}

constexpr DataTypeEntry kFloat32{"float32", "IEEE single precision", DataType::float32, 4};
constexpr DataTypeEntry kFloat64{"float64", "IEEE double precision", DataType::float64, 8};
constexpr DataTypeEntry kFloat16{"float16", "IEEE half precision, combined in float32", DataType::float16, 2};
constexpr DataTypeEntry kBfloat16{"bfloat16", "the upper half of a float32, combined in float32", DataType::bfloat16,
                                  2};
constexpr DataTypeEntry kInt32{"int32", "signed, wraps around", DataType::int32, 4};
constexpr DataTypeEntry kInt64{"int64", "signed, wraps around", DataType::int64, 8};
constexpr DataTypeEntry kUint8{"uint8", "unsigned, wraps around", DataType::uint8, 1};

constexpr std::array kDataTypes{&kFloat32, &kFloat64, &kFloat16, &kBfloat16, &kInt32, &kInt64, &kUint8};

constexpr ReduceOpEntry kSum{"sum", "all added", ReduceOp::sum};
constexpr ReduceOpEntry kAverage{"average", "all added, divided by the number of workers", ReduceOp::average};
constexpr ReduceOpEntry kMin{"min", "the smallest", ReduceOp::min};
constexpr ReduceOpEntry kMax{"max", "the largest", ReduceOp::max};
constexpr ReduceOpEntry kProduct{"product", "all multiplied", ReduceOp::product};

constexpr std::array kReduceOps{&kSum, &kAverage, &kMin, &kMax, &kProduct};

/// nccl-tests' names.
struct Alias {
  std::string_view alias;
  std::string_view name;
};
constexpr Alias kAliases[] = {{"float", "float32"}, {"double", "float64"}, {"half", "float16"}, {"prod", "product"},
                              {"avg", "average"},   {"fp32", "float32"},   {"fp64", "float64"}, {"fp16", "float16"},
                              {"bf16", "bfloat16"}, {"int", "int32"}};

std::string_view full_name(std::string_view text) {
  for (const auto& [alias, name] : kAliases)
    if (text == alias) return name;
  return text;
}

}  // namespace

void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) {
  const std::byte* const sources[] = {inout.data(), in.data()};
  std::byte* const targets[] = {inout.data()};
  combine(type, op, sources, targets, inout.size(), 1);
}

void combine(DataType type, ReduceOp op, std::span<const std::byte* const> sources, std::span<std::byte* const> targets,
             std::size_t bytes, int divisor) {
  if (const HalfConversion* conversion = conversion_of(type))
    return combine_halves(*conversion, kernel(type, op), sources, targets, bytes, divisor);
  kernel(type, op)(sources.data(), sources.size(), targets.data(), targets.size(), bytes, divisor);
}

void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) {
  switch (type) {
    case DataType::float32:
      return fill(neutral<float>(op), buffer);
    case DataType::float64:
      return fill(neutral<double>(op), buffer);
    case DataType::float16:
      return fill_halves(float16_conversion(), op, buffer);
    case DataType::bfloat16:
      return fill_halves(bfloat16_conversion(), op, buffer);
    case DataType::int32:
      return fill(neutral<std::int32_t>(op), buffer);
    case DataType::int64:
      return fill(neutral<std::int64_t>(op), buffer);
    case DataType::uint8:
      return fill(neutral<std::uint8_t>(op), buffer);
  }
}

void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) {
  if (op != ReduceOp::average || workers == 1) return;
  const std::byte* const sources[] = {buffer.data()};
  std::byte* const targets[] = {buffer.data()};
  combine(type, ReduceOp::sum, sources, targets, buffer.size(), workers);
}

void keep_rest(std::span<const float> whole, std::span<float> part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const float rest = whole[i] - part[i];
    part[i] = std::isfinite(rest) ? rest : 0.0F;
  }
}

void change(const NumbersChange& by, std::span<float> numbers) {
  const auto [kind, factor, a, b, root, epsilon] = by;
  switch (kind) {
    case NumbersChange::Kind::multiply:
      for (float& x : numbers) x *= factor;
      return;
    case NumbersChange::Kind::add:
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += factor * a[i];
      return;
    case NumbersChange::Kind::add_product:
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += factor * a[i] * b[i];
      return;
    case NumbersChange::Kind::add_ratio:
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += factor * a[i] / (std::sqrt(b[i]) / root + epsilon);
      return;
  }
}

std::span<const DataTypeEntry* const> data_types() { return kDataTypes; }
std::span<const ReduceOpEntry* const> reduce_ops() { return kReduceOps; }

const DataTypeEntry& entry_of(DataType type) { return *kDataTypes[static_cast<std::size_t>(type)]; }
const ReduceOpEntry& entry_of(ReduceOp op) { return *kReduceOps[static_cast<std::size_t>(op)]; }

DataType parse_data_type(std::string_view text) { return find_entry(data_types(), full_name(text), "data type").type; }
ReduceOp parse_reduce_op(std::string_view text) { return find_entry(reduce_ops(), full_name(text), "operation").op; }

}  // namespace hbench
#endif
