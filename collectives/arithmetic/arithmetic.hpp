#pragma once

/// The element types of collectives, the operations that combine elements, and what is done with them, for every type
/// and operation: vectorised, chosen at run time for the processor.
///
/// Buffers are bytes that hold whole elements, of any alignment. `average` combines as `sum` does; `finish` divides.
/// float16 and bfloat16 are combined in float32 and rounded to nearest even once per call. Integers wrap around.
/// min and max: a NaN in either operand gives NaN.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace hbench {

enum class DataType : std::uint8_t { float32, float64, float16, bfloat16, int32, int64, uint8 };

/// `average` is a sum that is divided by the number of workers at the end; integers are divided as C++ does it.
enum class ReduceOp : std::uint8_t { sum, average, min, max, product };

/// One entry of the family.
struct DataTypeEntry {
  std::string_view name;  ///< `float32`
  std::string_view summary;
  DataType type;
  std::size_t size;  ///< bytes per element
};

struct ReduceOpEntry {
  std::string_view name;  ///< `sum`
  std::string_view summary;
  ReduceOp op;
};

/// The tables, in the order of the enumerations.
std::span<const DataTypeEntry* const> data_types();
std::span<const ReduceOpEntry* const> reduce_ops();

const DataTypeEntry& entry_of(DataType type);
const ReduceOpEntry& entry_of(ReduceOp op);
inline std::size_t size_of(DataType type) { return entry_of(type).size; }

/// By name, or by nccl-tests' name for it (`float`, `double`, `half`, `prod`, `avg` ...).
/// \throws Error (usage), with a suggestion.
DataType parse_data_type(std::string_view text);
ReduceOp parse_reduce_op(std::string_view text);

/// What one rank brings to a collective, and where its result lies afterwards.
struct Operand {
  std::span<std::byte> buffer;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;

  std::int64_t elements() const { return static_cast<std::int64_t>(buffer.size() / size_of(type)); }
  /// \pre the type is float32.
  std::span<float> floats() const {
    return {reinterpret_cast<float*>(buffer.data()), static_cast<std::size_t>(elements())};
  }
  static Operand of(std::span<float> values) { return {std::as_writable_bytes(values)}; }
};

/// The element that leaves others as they are when it is combined with them.
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

/// inout = inout (op) in, element by element. \pre equal sizes; the ranges are equal or do not overlap.
void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout);

/// Every target = sources[0] (op) sources[1] (op) ..., in this order, each element read and written once. `divisor`
/// divides the result (`average`); 1 leaves it. \pre at least one source and one target, all `bytes` long; a target
/// may be one of the sources.
void combine(DataType type, ReduceOp op, std::span<const std::byte* const> sources, std::span<std::byte* const> targets,
             std::size_t bytes, int divisor);

/// The element that leaves others as they are: 0, 1, the largest, the smallest.
void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer);

/// What is left to do when all `workers` contributions are combined: the division of `average`, else nothing.
void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer);

/// part = whole - part, rounded once, where that is finite, and 0 elsewhere. \pre equal sizes; no overlap.
void keep_rest(std::span<const float> whole, std::span<float> part);

/// What optimizers are made of: what becomes of each x of many numbers.
struct NumbersChange {
  enum class Kind : std::uint8_t {
    multiply,     ///< factor x
    add,          ///< x + factor a
    add_product,  ///< x + factor a b
    add_ratio,    ///< x + factor a / (sqrt(b) / root + epsilon)
  } kind;
  float factor = 1;
  std::span<const float> a = {}, b = {};  ///< as many as x, where the kind has them
  float root = 1, epsilon = 0;
};

/// Each operation rounds once. \pre no overlap, or equal ranges.
void change(const NumbersChange& by, std::span<float> numbers);

}  // namespace hbench
