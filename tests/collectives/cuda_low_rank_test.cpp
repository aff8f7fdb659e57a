// What the kernels of PowerSGD do, run on the host: no GPU is needed.

#include "collectives/cuda/low_rank.cuh"

#include <gtest/gtest.h>

#include "tests/collectives/cuda_factors.hpp"

namespace hbench::cuda_low_rank_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

constexpr float kPoisoned = -1e30F;

std::vector<float> poisoned(std::int64_t elements) {
  return std::vector<float>(static_cast<std::size_t>(elements), kPoisoned);
}

void multiply_on_host(cuda::Multiply work) {
  for (; work.first < work.shape.rank; work.first += cuda::kFactorColumns)
    for (std::size_t block = 0; block < work.blocks(); ++block) {
      cuda::Multiply::Sums sums{};
      for (unsigned thread = 0; thread < cuda::kThreads; ++thread) {
        cuda::Multiply::Sums mine{};
        work.whole(block) ? work.add<true>(block, thread, mine) : work.add<false>(block, thread, mine);
        for (unsigned i = 0; i < cuda::kBlockRows; ++i)
          for (unsigned k = 0; k < cuda::kFactorColumns; ++k) sums.at[i][k] += mine.at[i][k];
      }
      for (unsigned i = 0; i < cuda::kBlockRows; ++i)
        for (unsigned k = 0; k < cuda::kFactorColumns; ++k) work.give(block, i, k, sums.at[i][k]);
    }
}

/// Columns of the matrix as a grid has them: whole blocks of threads.
std::size_t grid_columns(const cuda::MatrixShape& shape) {
  return (shape.columns + cuda::kThreads - 1) / cuda::kThreads * cuda::kThreads;
}

void multiply_transposed_on_host(cuda::MultiplyTransposed work, float* right) {
  std::vector<float> slabs(work.shape.slabs() * work.shape.rank * work.shape.columns, kPoisoned);
  work.slabs = slabs.data();
  for (; work.first < work.shape.rank; work.first += cuda::kFactorColumns)
    for (std::size_t slab = 0; slab < work.shape.slabs(); ++slab)
      for (std::size_t column = 0; column < grid_columns(work.shape); ++column) work.run(slab, column);
  for (std::size_t at = 0; at < grid_columns(work.shape) * work.shape.rank; ++at)
    cuda::add_slabs(work.shape, slabs.data(), at, right);
}

template <class Test>
void for_each_size(Test test) {
  std::mt19937_64 random(std::random_device{}());
  for (const auto& [elements, rank] : kFactorSizes) {
    SCOPED_TRACE(std::to_string(elements) + " elements, rank " + std::to_string(rank));
    const LowRankShape shape = low_rank_shape(elements, rank);
    test(shape, normal_floats(elements, random), normal_floats(shape.left_elements(), random),
         normal_floats(shape.right_elements(), random));
  }
}

TEST(CudaLowRank, MultipliesToWithinRounding) {
  for_each_size([](const LowRankShape& shape, const auto& matrix, const auto& left, const auto& right) {
    const cuda::MatrixShape as_kernels = cuda::matrix_shape(shape);
    std::vector<float> found = poisoned(shape.left_elements());
    multiply_on_host({as_kernels, matrix.data(), right.data(), found.data(), 0});
    // Here threads' sums are added one after the other: 256 more.
    EXPECT_TRUE(left_sums(shape, matrix, right).near(found, left_units(shape) + 256));
    found = poisoned(shape.right_elements());
    multiply_transposed_on_host({as_kernels, matrix.data(), left.data(), nullptr, 0}, found.data());
    EXPECT_TRUE(right_sums(shape, matrix, left).near(found, right_units(shape)));
  });
}

TEST(CudaLowRank, ExpandsToTheBitsOfTheHost) {
  for_each_size([](const LowRankShape& shape, const auto& matrix, const auto& left, const auto& right) {
    std::vector<float> expanded(matrix.size());
    host_low_rank_products()->expand(shape, left, right, expanded);
    std::vector<float> found = poisoned(shape.elements);
    const cuda::Expand work{cuda::matrix_shape(shape), left.data(), right.data(), found.data()};
    for (std::size_t block = 0; block * cuda::kBlockRows < work.shape.rows; ++block)
      for (std::size_t column = 0; column < grid_columns(work.shape); ++column) work.run(block, column);
    EXPECT_EQ(found, expanded);
  });
}

// An infinity stays in its row and column; what is behind the end of the last row makes no NaN.
TEST(CudaLowRank, KeepsInfinitiesWhereTheyAre) {
  std::mt19937_64 random(std::random_device{}());
  const LowRankShape shape = low_rank_shape(90, 2);   // 9 rows of 10
  const LowRankShape ragged = low_rank_shape(85, 2);  // the last has 5
  for (const LowRankShape& of : {shape, ragged}) {
    const std::vector<float> matrix = normal_floats(of.elements, random);
    std::vector<float> right = normal_floats(of.right_elements(), random);
    std::vector<float> left = normal_floats(of.left_elements(), random);
    right[9] = left[8] = std::numeric_limits<float>::infinity();
    std::vector<float> of_host(left.size());
    std::vector<float> found(left.size());
    host_low_rank_products()->multiply(of, matrix, right, of_host);
    multiply_on_host({cuda::matrix_shape(of), matrix.data(), right.data(), found.data(), 0});
    for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(std::isfinite(found[i]), std::isfinite(of_host[i])) << i;
    of_host.resize(right.size());
    found.resize(right.size());
    host_low_rank_products()->multiply_transposed(of, matrix, left, of_host);
    multiply_transposed_on_host({cuda::matrix_shape(of), matrix.data(), left.data(), nullptr, 0}, found.data());
    for (std::size_t i = 0; i < right.size(); ++i) EXPECT_EQ(std::isfinite(found[i]), std::isfinite(of_host[i])) << i;
  }
}

/// The block of `orthonormalise`.
void orthonormalise_on_host(std::size_t rows, std::size_t rank, float* columns) {
  constexpr unsigned kMany = 1024;
  const auto dot = [&](const float* a, const float* b) {
    double sum = 0;
    for (unsigned thread = 0; thread < kMany; ++thread) sum += cuda::dot_part(a, b, rows, thread, kMany);
    return sum;
  };
  for (std::size_t k = 0; k < rank; ++k) {
    float* const column = columns + k * rows;
    const double before = std::sqrt(dot(column, column));
    for (std::size_t j = 0; j < 2 * k; ++j) {
      const float* const other = columns + j % k * rows;
      const auto factor = static_cast<float>(-dot(other, column));
      for (std::size_t i = 0; i < rows; ++i) column[i] += factor * other[i];
    }
    const double scale = cuda::stretch(before, std::sqrt(dot(column, column)));
    for (std::size_t i = 0; i < rows; ++i) column[i] = static_cast<float>(column[i] * scale);
  }
}

TEST(CudaLowRank, MakesColumnsOrthonormalAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  for (const auto& [rows, rank] : {std::pair(1, 1), {5, 4}, {1000, 4}, {3001, 9}}) {
    const std::vector<float> given = hard_columns(rows, rank, random);
    std::vector<float> right = given;
    host_low_rank_products()->orthonormalise(rows, right);
    std::vector<float> found = given;
    orthonormalise_on_host(static_cast<std::size_t>(rows), static_cast<std::size_t>(rank), found.data());
    EXPECT_TRUE(near_columns(found, right)) << rows << ", " << rank;
  }
  EXPECT_EQ(cuda::stretch(1, 1e-6), 0);
  EXPECT_TRUE(std::isnan(cuda::stretch(1, std::nan(""))));
}

TEST(CudaLowRank, RenewsLostColumnsToTheBitsOfTheHost) {
  std::mt19937_64 random(std::random_device{}());
  const LowRankShape shape = low_rank_shape(90'000, 4);
  std::vector<float> right = normal_floats(shape.right_elements(), random);
  const auto length = static_cast<std::size_t>(shape.columns);
  std::fill_n(right.begin(), length, 0.0F);
  right[2 * length + 3] = std::numeric_limits<float>::infinity();
  right[3 * length + 4] = std::nanf("");
  const Draw draw{.seed = 5, .step = 6};
  std::vector<float> found = right;
  host_low_rank_products()->renew_lost_columns(shape, draw, right);
  for (std::size_t k = 0; k < 4; ++k) {
    const cuda::Random numbers(shared_key_of(draw), k * length);
    if (!cuda::lost(cuda::dot_part(found.data() + k * length, found.data() + k * length, length, 0, 1))) continue;
    for (std::size_t i = 0; i < length; ++i) found[k * length + i] = cuda::renewed(numbers.bits(i));
  }
  EXPECT_EQ(found, right);
}

}  // namespace
}  // namespace hbench::cuda_low_rank_test
