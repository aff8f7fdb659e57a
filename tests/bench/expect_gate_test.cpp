/// `hbench expect --gate` as the check before a job: its exit codes.

#include <fmt/format.h>

#include <cstdio>

#include "bench/command/verb.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::expect_gate_test {
namespace {

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

/// A line of what nccl-tests prints of four GPUs.
std::string row(const char* bytes, const char* count, const char* figures, const char* wrong = "0") {
  return fmt::format("{} {} float sum -1 {} {} {} {}\n", bytes, count, figures, wrong, figures, wrong);
}

TEST(ExpectGate, PassesNoClusterWhoseDataWereWrongOrCouldNotBeRead) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.txt").string(),
                    head =
                        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                        "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n",
                    good = row("1048576", "262144", "61.0 17.19 25.78"),
                    slow = row("4194304", "1048576", "4000.0 1.05 1.57"),
                    wrong = row("1073741824", "268435456", "7000.0 153.39 230.09", "999"),
                    unread = row("4194304", "1048576", "nan nan nan");
  struct Row {
    std::string rows, verdict, note;
    ExitCode code;
  };
  const std::string is_good = "=> 1 of 1 size pass for dgx-a100.\n", failed = file + ":4: 999 elements were wrong",
                    left_out = file + ": line 4: its time is nan";
  for (const Row& each : {
           Row{good, is_good, "", ExitCode::good},
           Row{good + wrong, "=> Failed: " + failed + ". 1 of 1 size pass for dgx-a100.\n", "Failed: " + failed + ".\n",
               ExitCode::wrong_data},
           Row{good + unread, is_good, "Left out: " + left_out + ".\n", ExitCode::inconclusive},
           Row{good + row("0", "0", "5.0 0.00 0.00"), is_good, "Left out: " + file + ": 1 row of 0 bytes.\n",
               ExitCode::good},
           Row{slow + unread, "=> 0 of 1 size pass for dgx-a100. Slow: 4MiB", "Left out: " + left_out + ".\n",
               ExitCode::regressed},
       }) {
    SCOPED_TRACE(each.rows);
    write_bytes(file, head + each.rows);
    std::vector<std::string> words{file, "--profile", "dgx-a100", "--collective", "all-reduce", "--ranks", "4"};
    const Ran ran = run_verb("expect", words);
    EXPECT_EQ(ran.code, ExitCode::good) << "nobody asked for a gate";
    EXPECT_THAT(ran.out, StartsWith(each.verdict));
    EXPECT_THAT(ran.out, HasSubstr(each.note));
    words.emplace_back("--gate");
    EXPECT_EQ(run_verb("expect", words).code, each.code);
  }
  write_bytes(file, head + wrong);
  expect_error(
      [&] {
        run_verb("expect", {file, "--profile", "dgx-a100", "--collective", "all-reduce", "--ranks", "4"});
      },
      ExitCode::wrong_data, StrEq("no result is good: " + file + ":3: 999 elements were wrong"),
      StrEq("mend that before anything is timed"));
}

TEST(ExpectGate, SaysWhatAFileLacksToBeJudged) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.txt").string();
  write_bytes(file, "{\"step_ms\": 12.3}\n");
  expect_refused("expect", {file, "--profile", "dgx-a100"}, StrEq(file + ": there is no collective in it"),
                 HasSubstr("--measured 1531 --workload vgg16"));
  write_bytes(file, "size type redop time algbw busbw\n1048576 float sum 61.0 17.19 25.78\n");
  std::vector<std::string> words{file, "--profile", "dgx-a100", "--collective", "all-reduce", "--ranks", "4"};
  const auto assumed = HasSubstr("Nothing says on how many nodes it ran");
  EXPECT_THAT(run_verb("expect", words).out, assumed);
  words.insert(words.end(), {"--nodes", "1"});
  EXPECT_THAT(run_verb("expect", words).out, Not(assumed));
}

TEST(ExpectGate, RefusesRatesThatNothingReaches) {
  expect_refused("expect", {"--profile", "dgx-a100", "--workload", "vgg16", "--gpus", "8", "--measured", "1e300"},
                 HasSubstr("'1e300' is no rate: above 1e+12 samples/s"));
}

TEST(ExpectGate, NeedsSomethingThatWasMeasured) {
  const Verb& verb = find_entry(verbs(), "expect", "verb");
  expect_error(
      [&] {
        verb.run({{"--profile", "dgx-a100", "--ranks", "16", "--gate"}, "hbench expect"});
      },
      ExitCode::usage, StrEq("--gate judges what was measured, and nothing is given"), HasSubstr("--measured 1531"));
}

}  // namespace
}  // namespace hbench::expect_gate_test
