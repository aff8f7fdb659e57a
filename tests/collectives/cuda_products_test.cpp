// PowerSGD's products on a GPU against the host's; skipped, with the reason, where there is none.

#include <gtest/gtest.h>

#include "collectives/base/error.hpp"
#include "collectives/cuda/low_rank.hpp"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/cuda_factors.hpp"

namespace hbench::cuda_products_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

/// Floats on the GPU, off by one float from an aligned address, as factors may be.
class GpuFloats {
 public:
  GpuFloats(Device& device, std::span<const float> values) : memory_(device, {4, values.size_bytes()}) {
    memory_.put(std::as_bytes(values));
  }
  std::span<float> span() {
    return {reinterpret_cast<float*>(memory_.span().data()), memory_.span().size() / sizeof(float)};
  }
  std::vector<float> get() {
    const std::vector<std::byte> bytes = memory_.get();
    std::vector<float> floats(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  }

 private:
  GpuMemory memory_;
};

class CudaProducts : public OnGpu {
 protected:
  GpuFloats poisoned(std::int64_t elements) {
    return {*device, std::vector<float>(static_cast<std::size_t>(elements), -1e30F)};
  }
};

TEST_F(CudaProducts, AreThoseOfTheHostOrWithinRounding) {
  const auto products = make_cuda_low_rank_products(*device);
  for (const auto& [elements, rank] : kFactorSizes) {
    SCOPED_TRACE(std::to_string(elements) + " elements, rank " + std::to_string(rank));
    const LowRankShape shape = low_rank_shape(elements, rank);
    const std::vector<float> matrix = normal_floats(elements, random);
    const std::vector<float> left = normal_floats(shape.left_elements(), random);
    const std::vector<float> right = normal_floats(shape.right_elements(), random);
    GpuFloats matrix_there(*device, matrix);
    GpuFloats left_there(*device, left);
    GpuFloats right_there(*device, right);
    GpuFloats left_found = poisoned(shape.left_elements());
    products->multiply(shape, matrix_there.span(), right_there.span(), left_found.span());
    EXPECT_TRUE(left_sums(shape, matrix, right).near(left_found.get(), left_units(shape)));
    GpuFloats right_found = poisoned(shape.right_elements());
    products->multiply_transposed(shape, matrix_there.span(), left_there.span(), right_found.span());
    EXPECT_TRUE(right_sums(shape, matrix, left).near(right_found.get(), right_units(shape)));
    std::vector<float> expanded(matrix.size());
    host_low_rank_products()->expand(shape, left, right, expanded);
    GpuFloats found = poisoned(elements);
    products->expand(shape, left_there.span(), right_there.span(), found.span());
    EXPECT_EQ(found.get(), expanded);
  }
}

TEST_F(CudaProducts, AreTheSameBitsEveryTime) {
  const LowRankShape shape = low_rank_shape(1'000'003, 4);
  GpuFloats matrix(*device, normal_floats(shape.elements, random));
  GpuFloats right(*device, normal_floats(shape.right_elements(), random));
  std::vector<float> first[2];
  for (int again = 0; again < 5; ++again) {
    const auto products = make_cuda_low_rank_products(*device);
    GpuFloats left = poisoned(shape.left_elements());
    GpuFloats next = poisoned(shape.right_elements());
    products->multiply(shape, matrix.span(), right.span(), left.span());
    products->orthonormalise(shape.rows, left.span());
    products->multiply_transposed(shape, matrix.span(), left.span(), next.span());
    if (again == 0) {
      first[0] = left.get();
      first[1] = next.get();
    }
    EXPECT_EQ(left.get(), first[0]);
    EXPECT_EQ(next.get(), first[1]);
  }
}

TEST_F(CudaProducts, MakeColumnsOrthonormalAsTheHostDoes) {
  const auto products = make_cuda_low_rank_products(*device);
  for (const auto& [rows, rank] : {std::pair(1, 1), {5, 4}, {1000, 4}, {30'001, 9}}) {
    std::vector<float> columns = hard_columns(rows, rank, random);
    GpuFloats there(*device, columns);
    products->orthonormalise(rows, there.span());
    host_low_rank_products()->orthonormalise(rows, columns);
    EXPECT_TRUE(near_columns(there.get(), columns)) << rows << ", " << rank;
  }
}

TEST_F(CudaProducts, RenewLostColumnsToTheBitsOfTheHost) {
  const LowRankShape shape = low_rank_shape(90'000, 3);
  std::vector<float> right = normal_floats(shape.right_elements(), random);
  std::fill_n(right.begin(), shape.columns, 0.0F);
  right.back() = std::nanf("");
  GpuFloats there(*device, right);
  const Draw draw{.seed = 5, .step = 6};
  make_cuda_low_rank_products(*device)->renew_lost_columns(shape, draw, there.span());
  host_low_rank_products()->renew_lost_columns(shape, draw, right);
  EXPECT_EQ(there.get(), right);
}

// These need no GPU.
TEST(CudaProductsOfTheHost, AreRefused) { EXPECT_THROW(make_cuda_low_rank_products(host_device()), Error); }

}  // namespace
}  // namespace hbench::cuda_products_test
