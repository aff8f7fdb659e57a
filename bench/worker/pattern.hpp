#pragma once

/// Test data whose results are known in closed form, and the judge of a buffer.
///
/// A constant fill cannot see swapped or doubled chunks. Here every element depends on its position and its rank, and
/// every result, and every partial one, is exactly representable, so that a right result has the right bits whatever
/// the order of the sum.

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// What is reduced or moved. Buffers have the full length on every rank.
struct Pattern {
  CollectiveKind collective = CollectiveKind::all_reduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  int workers = 1;
  /// Of all-gathers and reduce-scatters: the elements of each worker's part. Unused by the others.
  std::vector<ElementRange> parts = {};
};

/// Returns the most workers with which results are exact.
int most_workers(DataType type, ReduceOp op);

/// What `rank` brings. What it need not bring is filled with another value.
void fill_input(const Pattern& pattern, Rank rank, std::span<std::byte> buffer);

/// Elements of `rank`'s buffer that are not what the collective must leave there; scratch is not looked at.
std::int64_t count_wrong(const Pattern& pattern, Rank rank, std::span<const std::byte> buffer);

}  // namespace hbench
