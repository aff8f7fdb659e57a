#pragma once

/// What collectives do with elements, for every type and operation: vectorised, chosen at run time for the processor.
///
/// Buffers are bytes that hold whole elements, of any alignment. `average` combines as `sum` does; `finish` divides.
/// float16 and bfloat16 are combined in float32 and rounded to nearest even once per call. Integers wrap around.
/// min and max: a NaN in either operand gives NaN.

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/arithmetic/data_type.hpp"

namespace hbench {

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
