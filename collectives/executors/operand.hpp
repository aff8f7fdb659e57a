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
  static Operand of(std::span<float> values) { return {std::as_writable_bytes(values)}; }
};

}  // namespace hbench
