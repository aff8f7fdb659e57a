// Fails each test that leaves a report of the emulated GPU behind, and prints at the end what ran on it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {
namespace {

class ReportListener final : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override {
    drain();
    for (const Report& report : take_reports()) ADD_FAILURE() << "emulated GPU: " << text_of(report);
  }
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    fmt::print("emulated GPU: {} launches, {} threads, {} accesses checked, {} reports\n", counts.launches,
               counts.threads, counts.accesses, counts.reports);
  }
};

[[maybe_unused]] const bool kIsListening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new ReportListener);  // gtest's from now on
  return true;
}();

}  // namespace
}  // namespace hbench::emulated_gpu
