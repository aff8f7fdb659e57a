#include "analysis/fit/machine_profile.hpp"

#include <gtest/gtest.h>

#include "analysis/records/metrics.hpp"

namespace hbench::coding_rates_test {
namespace {

/// A collective that was timed on `machine`: 2 us for a call and 1 ns for a byte to encode, 3 us and 0.5 ns to decode.
CaseResult timed(const std::string& compressor, std::int64_t bytes, const std::string& machine = "here") {
  CaseResult result;
  result.asked.evidence = Evidence::measured;
  result.asked.collective = {.name = "all-reduce", .bytes = bytes};
  result.asked.strategy.compressor = compressor;
  result.asked.machine = machine;
  result.producer.started_at = "2026-11-26T10:00:00Z";
  const auto size = static_cast<double>(bytes);
  for (const double noise : {0.9, 1.0, 1.3}) {
    result.samples.push_back(
        {.metric = std::string(metric::kEncode), .value = 2e-6 + noise * 1e-9 * size, .unit = "s"});
    result.samples.push_back(
        {.metric = std::string(metric::kDecode), .value = 3e-6 + noise * 5e-10 * size, .unit = "s"});
  }
  return result;
}

Case here() {
  Case asked;
  asked.machine = "here";
  return asked;
}

TEST(CodingRates, AreThoseOfBytesAndOfCalls) {
  const auto rates = coding_rates({timed("fp16", 64), timed("fp16", 1 << 20), timed("fp16", 1 << 24)}, here());
  ASSERT_EQ(rates.size(), 1);
  const StatedCoding& fp16 = rates.at("fp16");
  EXPECT_NEAR(fp16.rate.encode, 1e-9, 2e-12);
  EXPECT_NEAR(fp16.rate.decode, 5e-10, 3e-12);
  EXPECT_NEAR(fp16.rate.call, 2.5e-6, 1e-8);
  EXPECT_EQ(fp16.source, "coding rates measured here on 2026-11-26 by hbench collective, 3 sizes");
}

// The call is half of what 2 KiB take, which say nothing of bytes.
TEST(CodingRates, OfBytesAreThoseOfLargeBuffersAlone) {
  const auto rates = coding_rates({timed("fp16", 1 << 11), timed("fp16", 1 << 12), timed("fp16", 1 << 24)}, here());
  EXPECT_NEAR(rates.at("fp16").rate.encode, 1e-9, 2e-12);
}

TEST(CodingRates, AreOfThisMachineAndDevice) {
  CaseResult on_gpu = timed("fp16", 1 << 20), failed = timed("fp16", 1 << 20), simulated = timed("fp16", 1 << 20);
  on_gpu.asked.training.device = kGpuDevice;
  failed.status = CaseStatus::failed;
  simulated.asked.evidence = Evidence::simulated;
  EXPECT_TRUE(coding_rates({on_gpu, failed, simulated, timed("fp16", 1 << 20, "elsewhere")}, here()).empty());
  EXPECT_TRUE(coding_rates({timed("", 1 << 20), timed("none", 1 << 20)}, here()).empty()) << "nothing is coded";
  Case gpu = here();
  gpu.training.device = kGpuDevice;
  EXPECT_EQ(coding_rates({on_gpu}, gpu).size(), 1);
}

}  // namespace
}  // namespace hbench::coding_rates_test
