#pragma once

/// The element types of collectives and the operations that combine elements.

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

}  // namespace hbench
