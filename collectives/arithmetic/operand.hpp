#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/arithmetic/data_type.hpp"

namespace hbench {

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

}  // namespace hbench
