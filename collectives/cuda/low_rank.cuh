#pragma once

/// What one thread does of PowerSGD's products. They read the matrix once for every kFactorColumns columns of a factor,
/// and are limited by that; neighbouring threads have neighbouring columns of the matrix, whose rows are aligned as
/// they happen to be.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "collectives/compressors/low_rank.hpp"
#include "collectives/cuda/random.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// Columns of a factor that are worked on together.
constexpr unsigned kFactorColumns = 4;
/// Rows of the matrix that a block of `multiply` and `expand` has.
constexpr unsigned kBlockRows = 8;
/// Those that a thread of `multiply_transposed` adds up, and how many it loads before it uses the first.
constexpr unsigned kSlabRows = 256;
constexpr unsigned kRowsAtOnce = 8;

/// A matrix of `elements` in rows, the last of which may be shorter.
struct MatrixShape {
  std::size_t elements;
  std::size_t rows;
  std::size_t columns;
  std::size_t rank;

  HBENCH_ON_BOTH std::size_t slabs() const { return (rows + kSlabRows - 1) / kSlabRows; }
};

inline MatrixShape matrix_shape(const LowRankShape& shape) {
  const auto of = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  return {of(shape.elements), of(shape.rows), of(shape.columns), of(shape.rank)};
}

/// left = M right, for the factor's columns from `first` on: what one of the threads of a block adds up.
struct Multiply {
  MatrixShape shape;
  const float* matrix;
  const float* right;
  float* left;
  std::size_t first;

  struct Sums {
    float at[kBlockRows][kFactorColumns];
  };

  HBENCH_ON_BOTH std::size_t blocks() const { return (shape.rows + kBlockRows - 1) / kBlockRows; }
  HBENCH_ON_BOTH float factor(std::size_t column, unsigned k) const {
    return first + k < shape.rank ? right[(first + k) * shape.columns + column] : 0.0F;
  }

  /// \pre kWhole: all rows of the block are there, and full
  template <bool kWhole>
  HBENCH_ON_BOTH void add(std::size_t block, unsigned thread, Sums& sums) const {
    const std::size_t row = block * kBlockRows;
    for (std::size_t column = thread; column < shape.columns; column += kThreads) {
      float elements[kBlockRows];
      HBENCH_UNROLL
      for (unsigned i = 0; i < kBlockRows; ++i) {
        const std::size_t at = (row + i) * shape.columns + column;
        elements[i] = kWhole || at < shape.elements ? matrix[at] : 0.0F;
      }
      HBENCH_UNROLL
      for (unsigned k = 0; k < kFactorColumns; ++k) {
        const float x = factor(column, k);
        HBENCH_UNROLL
        for (unsigned i = 0; i < kBlockRows; ++i) {
          // What is not there must not meet an infinity, of which it would make NaN.
          if (kWhole || (row + i) * shape.columns + column < shape.elements) sums.at[i][k] += elements[i] * x;
        }
      }
    }
  }
  HBENCH_ON_BOTH bool whole(std::size_t block) const {
    return (block + 1) * kBlockRows * shape.columns <= shape.elements;
  }

  HBENCH_ON_BOTH void give(std::size_t block, unsigned i, unsigned k, float sum) const {
    const std::size_t row = block * kBlockRows + i;
    if (row < shape.rows && first + k < shape.rank) left[(first + k) * shape.rows + row] = sum;
  }
};

/// right = M^T left, likewise: the sums of one slab of rows for one column of the matrix. They are added up later, slab
/// by slab.
struct MultiplyTransposed {
  MatrixShape shape;
  const float* matrix;
  const float* left;
  float* slabs;  ///< for each slab a whole factor
  std::size_t first;

  HBENCH_ON_BOTH void run(std::size_t slab, std::size_t column) const {
    if (column >= shape.columns) return;
    const std::size_t begin = slab * kSlabRows;
    const std::size_t end = begin + kSlabRows < shape.rows ? begin + kSlabRows : shape.rows;
    float sums[kFactorColumns] = {};
    for (std::size_t row = begin; row < end; row += kRowsAtOnce) add_rows(row, end, column, sums);
    for (unsigned k = 0; k < kFactorColumns; ++k)
      if (first + k < shape.rank) slabs[(slab * shape.rank + first + k) * shape.columns + column] = sums[k];
  }

 private:
  HBENCH_ON_BOTH bool there(std::size_t row, std::size_t end, std::size_t column) const {
    return row < end && row * shape.columns + column < shape.elements;
  }
  HBENCH_ON_BOTH void add_rows(std::size_t row, std::size_t end, std::size_t column,
                               float (&sums)[kFactorColumns]) const {
    float elements[kRowsAtOnce];
    HBENCH_UNROLL
    for (unsigned i = 0; i < kRowsAtOnce; ++i)
      elements[i] = there(row + i, end, column) ? matrix[(row + i) * shape.columns + column] : 0.0F;
    HBENCH_UNROLL
    for (unsigned i = 0; i < kRowsAtOnce; ++i) {
      if (!there(row + i, end, column)) continue;
      HBENCH_UNROLL
      for (unsigned k = 0; k < kFactorColumns; ++k)
        if (first + k < shape.rank) sums[k] += left[(first + k) * shape.rows + row + i] * elements[i];
    }
  }
};

/// One element of the factor: its sums of all slabs.
HBENCH_ON_BOTH void add_slabs(const MatrixShape& shape, const float* slabs, std::size_t at, float* right) {
  const std::size_t factor = shape.columns * shape.rank;
  if (at >= factor) return;
  float sum = 0;
  for (std::size_t slab = 0; slab < shape.slabs(); ++slab) sum += slabs[slab * factor + at];
  right[at] = sum;
}

/// matrix = left right^T: kBlockRows elements of one column, added up as on the host.
struct Expand {
  MatrixShape shape;
  const float* left;
  const float* right;
  float* matrix;

  HBENCH_ON_BOTH void run(std::size_t block, std::size_t column) const {
    if (column >= shape.columns) return;
    const std::size_t row = block * kBlockRows;
    float sums[kBlockRows] = {};
    for (std::size_t k = 0; k < shape.rank; ++k) {
      const float x = right[k * shape.columns + column];
      HBENCH_UNROLL
      for (unsigned i = 0; i < kBlockRows; ++i)
        if (row + i < shape.rows) sums[i] += left[k * shape.rows + row + i] * x;
    }
    HBENCH_UNROLL
    for (unsigned i = 0; i < kBlockRows; ++i) {
      const std::size_t at = (row + i) * shape.columns + column;
      if (at < shape.elements) matrix[at] = sums[i];
    }
  }
};

/// What one of `threads` threads adds to the product of two columns.
HBENCH_ON_BOTH double dot_part(const float* a, const float* b, std::size_t count, unsigned thread, unsigned threads) {
  double sum = 0;
  for (std::size_t i = thread; i < count; i += threads) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// By how much a column that was `before` long, and now is `after` long, is to be stretched: to length 1, or to nothing
/// where float32 has left it rounding errors only.
HBENCH_ON_BOTH double stretch(double before, double after) {
  constexpr double kDependent = 1e-5;
  if (after > kDependent * before) return 1 / after;
  return after != after ? after : 0;
}

HBENCH_ON_BOTH bool lost(double square) { return !(square > 0 && square < std::numeric_limits<double>::infinity()); }

/// Uniform in (-1, 1).
HBENCH_ON_BOTH float renewed(std::uint32_t random) {
  return static_cast<float>(static_cast<std::int32_t>(random)) * 0x1p-31F;
}

}  // namespace hbench::cuda
