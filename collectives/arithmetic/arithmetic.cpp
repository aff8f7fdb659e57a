#include "collectives/arithmetic/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "collectives/arithmetic/half.hpp"
#include "collectives/arithmetic/kernels.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
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
