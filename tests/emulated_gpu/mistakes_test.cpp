// The checker of the emulated GPU: each mistake is noticed, and right programs are not accused.

#include "tests/emulated_gpu/mistakes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/emulated_gpu/machine.hpp"

namespace hbench::mistakes_test {
namespace {

using emulated_gpu::Desk;
using emulated_gpu::Report;
using emulated_gpu::RightProgram;
using emulated_gpu::WrongProgram;

template <class Program>
std::vector<Report> reports_of(const Program& program) {
  emulated_gpu::machine().peers = {};  // other tests may have let GPUs reach each other's memory
  {
    Desk desk;
    program.run(desk);
  }
  emulated_gpu::drain();
  cudaGetLastError();  // some mistakes are refused too
  return emulated_gpu::take_reports();
}

class EmulatedGpuNotices : public ::testing::TestWithParam<WrongProgram> {};

TEST_P(EmulatedGpuNotices, That) {
  const std::vector<Report> reports = reports_of(GetParam());
  const auto is_right = [](const Report& report) {
    return report.mistake == GetParam().mistake || report.mistake == GetParam().otherwise;
  };
  EXPECT_TRUE(std::ranges::any_of(reports, is_right)) << reports.size() << " reports of other mistakes";
}

class EmulatedGpuAccepts : public ::testing::TestWithParam<RightProgram> {};

TEST_P(EmulatedGpuAccepts, These) {
  for (const Report& report : reports_of(GetParam())) ADD_FAILURE() << text_of(report);
}

constexpr auto kName = [](const auto& program) { return std::string(program.param.name); };
INSTANTIATE_TEST_SUITE_P(All, EmulatedGpuNotices, ::testing::ValuesIn(emulated_gpu::wrong_programs()), kName);
INSTANTIATE_TEST_SUITE_P(All, EmulatedGpuAccepts, ::testing::ValuesIn(emulated_gpu::right_programs()), kName);

TEST(EmulatedGpuReports, SayWhatWhereAndByWhom) {
  const auto wrong = emulated_gpu::wrong_programs();
  const auto program = std::ranges::find(wrong, "TwoThreadsWriteTheSameValue", &WrongProgram::name);
  ASSERT_NE(program, wrong.end());
  const std::vector<Report> reports = reports_of(*program);
  ASSERT_EQ(reports.size(), 1U) << "one for each place";
  const std::string text = text_of(reports[0]);
  for (const char* part : {"race between threads: write of device memory at 0x", "after a write by kernel, operation ",
                           ", block 0, thread ", ", after 0 barriers by operation "})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace hbench::mistakes_test
