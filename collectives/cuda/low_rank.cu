#include "collectives/cuda/codecs.hpp"

#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/low_rank.cuh"

namespace hbench {
namespace cuda {
namespace {

/// Of the one block that makes columns orthonormal.
constexpr unsigned kManyThreads = 1024;

template <class T>
__device__ T sum_of_warp(T value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(kAllLanes, value, distance);
  return value;
}

/// Of all threads of a block, to all of them.
template <unsigned kBlockThreads>
__device__ double sum_of_block(double value) {
  __shared__ double sums[kBlockThreads / kWarp];
  const double of_warp = sum_of_warp(value);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = of_warp;
  __syncthreads();
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

__global__ void __launch_bounds__(kThreads) multiply(const Multiply work) {
  constexpr unsigned kSums = kBlockRows * kFactorColumns;
  __shared__ float of_warps[kThreads / kWarp][kSums];
  Multiply::Sums sums{};
  if (work.whole(blockIdx.x)) {
    work.add<true>(blockIdx.x, threadIdx.x, sums);
  } else {
    work.add<false>(blockIdx.x, threadIdx.x, sums);
  }
  HBENCH_UNROLL
  for (unsigned i = 0; i < kSums; ++i) {
    const float sum = sum_of_warp(sums.at[i / kFactorColumns][i % kFactorColumns]);
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp][i] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= kSums) return;
  float sum = 0;
  for (const auto& of_warp : of_warps) sum += of_warp[threadIdx.x];
  work.give(blockIdx.x, threadIdx.x / kFactorColumns, threadIdx.x % kFactorColumns, sum);
}

__global__ void __launch_bounds__(kThreads) multiply_transposed(const MultiplyTransposed work) {
  work.run(blockIdx.y, static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x);
}

__global__ void __launch_bounds__(kThreads) add_up_slabs(const MatrixShape shape, const float* slabs, float* right) {
  add_slabs(shape, slabs, static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x, right);
}

__global__ void __launch_bounds__(kThreads) expand(const Expand work) {
  work.run(blockIdx.y, static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x);
}

/// One block. A thread has the same elements of all columns, so that nothing but sums is shared.
__global__ void __launch_bounds__(kManyThreads) orthonormalise(std::size_t rows, std::size_t rank, float* columns) {
  const auto dot = [&](const float* a, const float* b) {
    return sum_of_block<kManyThreads>(dot_part(a, b, rows, threadIdx.x, kManyThreads));
  };
  for (std::size_t k = 0; k < rank; ++k) {
    float* const column = columns + k * rows;
    const double before = sqrt(dot(column, column));
    for (std::size_t j = 0; j < 2 * k; ++j) {
      const float* const other = columns + j % k * rows;
      const auto factor = static_cast<float>(-dot(other, column));
      for (std::size_t i = threadIdx.x; i < rows; i += kManyThreads) column[i] += factor * other[i];
    }
    const double scale = stretch(before, sqrt(dot(column, column)));
    for (std::size_t i = threadIdx.x; i < rows; i += kManyThreads) column[i] = static_cast<float>(column[i] * scale);
  }
}

/// One block to a column.
__global__ void __launch_bounds__(kThreads) renew_lost(std::size_t length, RandomKey key, float* columns) {
  float* const column = columns + blockIdx.x * length;
  if (!lost(sum_of_block<kThreads>(dot_part(column, column, length, threadIdx.x, kThreads)))) return;
  const Random random(key, blockIdx.x * length);
  for (std::size_t i = threadIdx.x; i < length; i += kThreads) column[i] = renewed(random.bits(i));
}

unsigned blocks_of(std::size_t count, std::size_t each) { return static_cast<unsigned>((count + each - 1) / each); }

class CudaProducts final : public LowRankProducts {
 public:
  explicit CudaProducts(Device& device) : device_(launching_device(device)), workspace_(device) {}

  void renew_lost_columns(const LowRankShape& shape, const Draw& draw, std::span<float> right) override {
    if (right.empty()) return;
    const MatrixShape matrix = matrix_shape(shape);
    start<renew_lost>(device_.queue(), blocks_of(matrix.rank, 1), matrix.columns, shared_key_of(draw), right.data());
  }

  void multiply(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> right,
                std::span<float> left) override {
    Multiply work{matrix_shape(shape), matrix.data(), right.data(), left.data(), 0};
    const Queue& queue = device_.queue();
    for (; work.first < work.shape.rank; work.first += kFactorColumns)
      start<cuda::multiply>(queue, blocks_of(work.blocks(), 1), work);
  }

  void multiply_transposed(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> left,
                           std::span<float> right) override {
    if (right.empty()) return;
    MultiplyTransposed work{matrix_shape(shape), matrix.data(), left.data(), nullptr, 0};
    work.slabs = reinterpret_cast<float*>(workspace_.of(work.shape.slabs() * right.size_bytes()));
    const Queue& queue = device_.queue();
    const dim3 grid(blocks_of(work.shape.columns, kThreads), static_cast<unsigned>(work.shape.slabs()));
    for (; work.first < work.shape.rank; work.first += kFactorColumns)
      start<cuda::multiply_transposed>(queue, grid, work);
    start<add_up_slabs>(queue, blocks_of(right.size(), kThreads), work.shape, work.slabs, right.data());
  }

  void expand(const LowRankShape& shape, std::span<const float> left, std::span<const float> right,
              std::span<float> matrix) override {
    if (matrix.empty()) return;
    const Expand work{matrix_shape(shape), left.data(), right.data(), matrix.data()};
    const dim3 grid(blocks_of(work.shape.columns, kThreads), blocks_of(work.shape.rows, kBlockRows));
    start<cuda::expand>(device_.queue(), grid, work);
  }

  void orthonormalise(std::int64_t rows, std::span<float> columns) override {
    if (columns.empty()) return;
    const auto length = static_cast<std::size_t>(rows);
    start<cuda::orthonormalise, kManyThreads>(device_.queue(), 1, length, columns.size() / length, columns.data());
  }

 private:
  LaunchingDevice& device_;
  Workspace workspace_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<LowRankProducts> make_cuda_low_rank_products(Device& device) {
  return std::make_unique<cuda::CudaProducts>(device);
}

}  // namespace hbench
