#pragma once

/// Matrices and factors for the tests of PowerSGD's products, and what is right within rounding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "collectives/compressors/low_rank.hpp"

namespace hbench::support {

/// Elements and rank: a matrix of one element, whole ones, ragged last rows, one that is a row short of a square, more
/// factor columns than are worked on together, more rows and columns than a block and a slab have.
struct FactorSize {
  std::int64_t elements;
  std::int64_t rank;
};
constexpr FactorSize kFactorSizes[] = {{1, 1},    {2, 4},      {16, 2},     {17, 4},      {90, 3},     {1000, 4},
                                       {4096, 5}, {70'001, 4}, {99'856, 9}, {300'000, 4}, {302'000, 2}};

inline std::vector<float> normal_floats(std::int64_t elements, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> floats(static_cast<std::size_t>(elements));
  for (float& x : floats) x = normal(random);
  return floats;
}

/// What `multiply` or `multiply_transposed` is to give, in float64, and its error: at most so many half units of
/// float32 (2^-24) of the sum of magnitudes.
struct FactorSums {
  std::vector<double> sums;
  std::vector<double> magnitudes;

  explicit FactorSums(std::int64_t elements)
      : sums(static_cast<std::size_t>(elements)), magnitudes(static_cast<std::size_t>(elements)) {}
  void add(std::int64_t at, float a, float b) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    sums[static_cast<std::size_t>(at)] += product;
    magnitudes[static_cast<std::size_t>(at)] += std::abs(product);
  }
  ::testing::AssertionResult near(std::span<const float> found, double units) const {
    for (std::size_t i = 0; i < sums.size(); ++i)
      // Negated, so that NaN is wrong.
      if (!(std::abs(static_cast<double>(found[i]) - sums[i]) <= units * 0x1p-24 * magnitudes[i]))
        return ::testing::AssertionFailure() << "element " << i << ": " << found[i] << " for " << sums[i];
    return ::testing::AssertionSuccess();
  }
};

inline float at(std::span<const float> values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }

inline FactorSums left_sums(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> right) {
  FactorSums sums(shape.left_elements());
  for (std::int64_t i = 0; i < shape.elements; ++i)
    for (std::int64_t k = 0; k < shape.rank; ++k)
      sums.add(k * shape.rows + i / shape.columns, at(matrix, i), at(right, k * shape.columns + i % shape.columns));
  return sums;
}

inline FactorSums right_sums(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> left) {
  FactorSums sums(shape.right_elements());
  for (std::int64_t i = 0; i < shape.elements; ++i)
    for (std::int64_t k = 0; k < shape.rank; ++k)
      sums.add(k * shape.columns + i % shape.columns, at(matrix, i), at(left, k * shape.rows + i / shape.columns));
  return sums;
}

/// As declared in `cuda/codecs.hpp`; one more for the product's own rounding.
inline double left_units(const LowRankShape& shape) { return static_cast<double>(shape.columns) / 256 + 17; }
inline double right_units(const LowRankShape& shape) { return static_cast<double>(shape.rows) / 256 + 257; }

/// Columns as they are after a step: some depend on others, some are lost.
inline std::vector<float> hard_columns(std::int64_t rows, std::int64_t rank, std::mt19937_64& random) {
  std::vector<float> columns = normal_floats(rows * rank, random);
  const auto column = [&](std::int64_t k) {
    return std::span(columns).subspan(static_cast<std::size_t>(k * rows), static_cast<std::size_t>(rows));
  };
  if (rank > 1) std::ranges::transform(column(0), column(1).begin(), [](float x) { return 3 * x; });
  if (rank > 2) std::ranges::fill(column(2), 0.0F);
  return columns;
}

/// Two float32 columns of length 1 that differ by rounding: elements by a few units of the largest possible, 1.
inline ::testing::AssertionResult near_columns(std::span<const float> found, std::span<const float> right) {
  constexpr float kNear = 0x1p-20F;
  for (std::size_t i = 0; i < right.size(); ++i)
    if (!(std::abs(found[i] - right[i]) <= kNear))
      return ::testing::AssertionFailure() << "element " << i << ": " << found[i] << " for " << right[i];
  return ::testing::AssertionSuccess();
}

}  // namespace hbench::support
