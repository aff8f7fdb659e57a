// Whose GPU a name or a rate means.

#include "analysis/prediction/rate_model.hpp"

#include "analysis/prediction/request.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::recorded_gpu_test {
namespace {

TEST(GpuOfTheCatalogue, IsKnownByTheNameOfItsDriver) {
  EXPECT_TRUE(is_gpu_of_catalogue("NVIDIA A100-SXM4-40GB", "a100"));
  EXPECT_TRUE(is_gpu_of_catalogue("NVIDIA A100-PG509-200", "a100-80gb"));
  EXPECT_TRUE(is_gpu_of_catalogue("NVIDIA H100 80GB HBM3", "h100-sxm"));
  EXPECT_TRUE(is_gpu_of_catalogue("NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"));
  EXPECT_TRUE(is_gpu_of_catalogue("Tesla V100-SXM2-16GB", "v100"));
}

TEST(GpuOfTheCatalogue, IsNoneWhoseNameOnlyBeginsAlike) {
  EXPECT_FALSE(is_gpu_of_catalogue("NVIDIA L40", "l4"));
  EXPECT_FALSE(is_gpu_of_catalogue("NVIDIA A10G", "a100"));
  EXPECT_FALSE(is_gpu_of_catalogue("NVIDIA H100 PCIe", "h100-sxm"));
  EXPECT_FALSE(is_gpu_of_catalogue("NVIDIA A100-SXM4-80GB", "a100-80gb-pcie"));
  EXPECT_FALSE(is_gpu_of_catalogue("NVIDIA H200", "h100-sxm"));
  EXPECT_FALSE(is_gpu_of_catalogue("", "a100"));
  EXPECT_FALSE(is_gpu_of_catalogue("NVIDIA A100", ""));
}

TEST(GpuRates, AreThoseOfTheClosestName) {
  PredictionRequest request;
  request.gpu_rates = parse_gpu_rates("h100=300,A100=150,a100-80gb=160");
  EXPECT_EQ(request.rate_on("h100-sxm"), 300);
  EXPECT_EQ(request.rate_on("a100"), 150);
  EXPECT_EQ(request.rate_on("a100-80gb-pcie"), 160);
  EXPECT_EQ(request.rate_on("v100"), 0);
  request.single_gpu_rate = 7;
  EXPECT_EQ(request.rate_on("a100"), 7) << "of all GPUs";
}

TEST(GpuRates, RefuseWhatIsNoRate) {
  for (const char* text : {"h100", "h100=", "=3", "h100=0", "h100=-1", "h100=nan", "h100=fast", "h100=1e99"})
    expect_error(
        [&] { parse_gpu_rates(text); }, ExitCode::usage, HasSubstr("--rate"),
        "write the samples/s of one GPU by its name: --rate h100=300,a100=150 (hbench list profiles has them)");
  expect_error([] { parse_gpu_rates("h100=300,H100=400"); }, ExitCode::usage, "--rate H100=400: its GPU is given twice",
               "leave one of them out");
}

TEST(GpuRates, AreOfAGpuThatIsAskedFor) {
  PredictionRequest request;
  request.check_gpu_rates({"h100-sxm"}, {"h100-sxm", "a100"});
  request.gpu_rates = parse_gpu_rates("h100=300,a100=150");
  request.check_gpu_rates({"h100-sxm"}, {"h100-sxm", "a100"});
  request.check_gpu_rates({}, {"a100"});  // nothing is simulated
  expect_error(
      [&] {
        request.check_gpu_rates({"v100"}, {"h100-sxm", "a100", "v100"});
      },
      ExitCode::usage, "--rate a100: no cluster that is asked for has such a GPU", "they have v100");
  request.gpu_rates = parse_gpu_rates("h1000=300,a100=150");
  expect_error(
      [&] {
        request.check_gpu_rates({"a100"}, {"h100-sxm", "a100"});
      },
      ExitCode::usage, "no GPU 'h1000'; did you mean 'a100'?", "known: a100, h100-sxm");
}

}  // namespace
}  // namespace hbench::recorded_gpu_test
