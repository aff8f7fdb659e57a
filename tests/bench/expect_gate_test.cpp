/// `hbench expect --gate` as the check before a job: its exit codes.

#include <gtest/gtest.h>

#include <cstdio>

#include "bench/command/verb.hpp"
#include "collectives/base/table.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::expect_gate_test {
namespace {

using ::testing::HasSubstr;

ExitCode expecting(std::vector<std::string> more) {
  more.insert(more.begin(), {"--quiet", "--algorithm", "ring", "--workload", "vgg16"});
  testing::internal::CaptureStdout();
  const ExitCode code = find_entry(verbs(), "expect", "verb").run({std::move(more), "hbench expect"});
  std::fflush(stdout);
  testing::internal::GetCapturedStdout();
  return code;
}

TEST(ExpectGate, EndsByTheVerdict) {
  const std::tuple<const char*, const char*, const char*, ExitCode> rows[] = {
      {"dgx-1-v100", "32", "5800", ExitCode::good},
      {"dgx-1-v100", "32", "8000", ExitCode::good},
      {"dgx-1-v100", "32", "1000", ExitCode::regressed},
      {"dgx-1-v100", "32", "1e6", ExitCode::inconclusive},
      {"aws-p3dn-tcp", "16", "546.9", ExitCode::inconclusive}};
  for (const auto& [profile, gpus, rate, code] : rows) {
    const std::vector<std::string> words{"--profile", profile, "--gpus", gpus, "--measured", rate};
    EXPECT_EQ(expecting(words), ExitCode::good) << rate << ": nobody asked for a gate";
    std::vector<std::string> gated = words;
    gated.emplace_back("--gate");
    EXPECT_EQ(expecting(gated), code) << profile << ' ' << rate;
  }
}

TEST(ExpectGate, NeedsSomethingThatWasMeasured) {
  const Verb& verb = find_entry(verbs(), "expect", "verb");
  expect_error(
      [&] {
        verb.run({{"--profile", "dgx-a100", "--ranks", "16", "--gate"}, "hbench expect"});
      },
      ExitCode::usage, ::testing::StrEq("--gate judges what was measured, and nothing is given"),
      HasSubstr("--measured 1531"));
}

}  // namespace
}  // namespace hbench::expect_gate_test
