// Why GPUs cannot be used, in words.

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/facts.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::cuda_availability_test {
namespace {

TEST(CudaAvailability, SaysWhatIsMissing) {
  const auto of = [](const cuda::Facts& facts) { return cuda::availability_of(facts); };
  EXPECT_TRUE(of({.toolkit = 13000, .driver = 13000, .devices = 1}).available);
  EXPECT_TRUE(of({.toolkit = 13020, .driver = 13000, .devices = 8}).available) << "minor versions go together";
  EXPECT_THAT(of({.toolkit = 13000}).reason, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(of({.toolkit = 13000}).cure, HasSubstr("CUDA 13.0"));
  const cuda::Facts old{.toolkit = 13000, .driver = 12040, .failure = "CUDA driver version is insufficient"};
  EXPECT_THAT(of(old).reason, HasSubstr("serves CUDA up to 12.4, and hbench was built with CUDA 13.0"));
  EXPECT_THAT(of(old).cure, HasSubstr("CUDA 13.0 or newer"));
  EXPECT_THAT(of({.toolkit = 13000, .driver = 13000}).reason, HasSubstr("no GPU"));
  EXPECT_THAT(of({.toolkit = 13000, .driver = 13000, .failure = "system not yet initialized"}).reason,
              HasSubstr("system not yet initialized"));
}

TEST(CudaAvailability, GivesAReasonAndACureWhereThereIsNoGpu) {
  const Availability availability = cuda_availability();
  if (availability.available) GTEST_SKIP() << "there is a GPU";
  EXPECT_FALSE(availability.reason.empty());
  EXPECT_FALSE(availability.cure.empty());
  EXPECT_EQ(cuda_devices(), 0);
  try {
    make_cuda_device(0);
    FAIL() << "a device without a GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_EQ(error.what(), availability.reason);
    EXPECT_EQ(error.hint(), availability.cure);
  }
}

}  // namespace
}  // namespace hbench::cuda_availability_test
