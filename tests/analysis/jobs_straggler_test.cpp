// What the rank costs that the others wait for.

#include <fmt/format.h>

#include "tests/analysis/jobs_recording.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_straggler_test {
namespace {

/// Three steps of 100 ms on a GPU: forward to 20, two halves of the backward pass of 20 ms each, which take `late` more
/// together, with an all-reduce after each that ends at 55 and 85 on all ranks, and the optimizer after them.
TraceText steps(double late) {
  TraceText trace;
  for (int step = 0; step < 3; ++step) {
    const double at = 100.0 * step, half = 20 + late / 2;
    trace.mark(fmt::format("ProfilerStep#{}", step), at, at + 100);
    trace.kernel("forward", at + 0.1, 1, at + 0.1, at + 20);
    for (int part = 0; part < 2; ++part) {
      const double begin = at + 20 + part * half, host = at + 20 + 3 * part;
      trace.host("autograd::engine::evaluate_function: ConvBackward0", host, host + 1, 2);
      trace.kernel("backward", host, 2, begin, begin + half);
      trace.gradient(host + 1, host + 1.5, 100);
      trace.host("record_param_comms", host + 1.6, host + 2, 2,
                 R"("Collective name": "allreduce", "In msg nelems": 100, "dtype": "Float", "Group size": 4)");
      trace.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", host + 1.8, 2,
                   begin + half, at + 55 + 30 * part);
    }
    trace.mark("Optimizer.step#SGD.step", at + 30, at + 31);
    trace.kernel("sgd", at + 30.5, 1, at + 85, at + 95);
  }
  return trace;
}

class LateRank : public ::testing::Test {
 protected:
  TrainingJob job(const std::vector<double>& late) {
    std::vector<std::string> files;
    for (std::size_t rank = 0; rank < late.size(); ++rank)
      files.push_back(file_of(folder_, fmt::format("rank{}.json", rank),
                              steps(late[rank]).text(static_cast<int>(rank), static_cast<int>(late.size()), "nccl")));
    return job_of(files);
  }
  TemporaryFolder folder_;
};

// Others wait from 60 to 85 ms with nothing beside, the late rank from 70; that they also wait from 40 instead of 45 to
// 55 is hidden by what they compute.
TEST_F(LateRank, CostsWhatTheOthersWaitForItWithNothingBeside) {
  const TrainingJob four = job({0, 0, 10, 0});
  ASSERT_TRUE(four.straggler);
  EXPECT_EQ(four.straggler->rank, 2);
  EXPECT_NEAR(four.straggler->costs.value, 0.01, 1e-6);
  EXPECT_NEAR((four.straggler->others - four.straggler->own).value, 0.015, 1e-6) << "in both all-reduces";
  EXPECT_NEAR(job({12, 0}).straggler.value().costs.value, 0.012, 1e-6);
}

}  // namespace
}  // namespace hbench::jobs_straggler_test
