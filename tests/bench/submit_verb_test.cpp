#include <fmt/format.h>

#include <cstdlib>

#include "bench/command/verb.hpp"
#include "collectives/base/table.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::submit_verb_test {
namespace {

/// The verb with programs of our own in the place of Slurm's. Each test is a process: it changes the environment.
class SubmitVerb : public testing::Test {
 protected:
  SubmitVerb() {
    std::filesystem::create_directory(folder_ / "bin");
    sbatch_is("echo 12");
    job_is("RUNNING");
    setenv("PATH", fmt::format("{}:/usr/bin:/bin", (folder_ / "bin").string()).c_str(), 1);
  }

  void sbatch_is(std::string_view script) const { program("sbatch", script); }
  /// What scontrol says of the job from its second question on; first it runs.
  void job_is(std::string_view state, std::string_view exit_code = "0:0") const {
    program("scontrol", fmt::format("now={0}; [ -e '{1}' ] || now=RUNNING; touch '{1}'\n"
                                    "echo \"JobId=12 JobState=$now Reason=None ExitCode={2} NodeList=n1 \"",
                                    state, (folder_ / "asked").string(), exit_code));
  }
  std::filesystem::path results() const { return folder_ / "results"; }
  /// What is printed is in `out_` and `err_`.
  ExitCode submit(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--engine", engine_, "--results",  results().string(),
                                          "--gpus",   "1,2",   "--evidence", "simulated"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    struct Captured {
      std::string &out, &err;
      ~Captured() {
        out = testing::internal::GetCapturedStdout();
        err = testing::internal::GetCapturedStderr();
      }
    } captured{out_, err_};
    return find_entry(verbs(), "submit", "verb").run({arguments, "hbench submit ..."});
  }

  void program(const char* name, std::string_view script) const {
    write_program(folder_ / "bin" / name, fmt::format("#!/bin/sh\n{}\n", script));
  }

  const TemporaryFolder folder_;
  std::string engine_ = "slurm";
  std::string out_, err_;
};

TEST_F(SubmitVerb, PrintsTheScriptAndLeavesNothingBehindInADryRun) {
  sbatch_is("exit 1");
  EXPECT_EQ(submit({"--dry-run"}), ExitCode::good);
  EXPECT_THAT(out_, StartsWith("#!/bin/bash\n"));
  EXPECT_THAT(out_, HasSubstr("\"$hbench\" sweep --gpus 1,2 --evidence simulated \\\n"));
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(SubmitVerb, KeepsWhatItSubmitsAndTheJobWithTheResults) {
  EXPECT_EQ(submit({}), ExitCode::good);
  EXPECT_EQ(bytes_of(results() / "hbench.slurm.job"), "12\n");
  EXPECT_THAT(bytes_of(results() / "hbench.slurm"), HasSubstr("sweep --gpus 1,2 --evidence simulated \\\n"));
  EXPECT_EQ(out_, fmt::format("Job 12 of slurm: {0}/hbench.slurm\nResults will be in {0}\n", results().string()));
}

TEST_F(SubmitVerb, FollowsTheJobAndEndsWithTheCodeOfTheSweep) {
  sbatch_is(
      fmt::format("echo 'from the sweep' > '{0}/slurm-12.log'; touch '{0}/hbench.db'; echo 12", results().string()));
  job_is("FAILED", "4:0");
  EXPECT_EQ(submit({"--wait"}), ExitCode::wrong_data);
  EXPECT_EQ(out_, fmt::format("Job 12 of slurm: {0}/hbench.slurm\nfrom the sweep\nResults: {0}/hbench.db\n",
                              results().string()));
  EXPECT_EQ(err_, "job 12: RUNNING on n1\njob 12: FAILED (exit code 4)\n");
}

TEST_F(SubmitVerb, SaysWhenThereIsNoDatabase) {
  job_is("CANCELLED");
  EXPECT_EQ(submit({"--wait"}), ExitCode::interrupted);
  EXPECT_THAT(err_, HasSubstr(fmt::format("hbench: the job left no database in {}\n", results().string())));
  EXPECT_THAT(err_, HasSubstr("see to it that its hosts share this folder, and may write there\n"));
}

TEST_F(SubmitVerb, FailsWhereAJobThatEndedWellLeftNoDatabase) {
  job_is("COMPLETED");
  EXPECT_EQ(submit({"--wait"}), ExitCode::environment);
}

/// A launcher whose volume cannot be written, as kubectl tells of it.
constexpr std::string_view kFailedLauncher = R"(case $1 in
create) echo 'mpijob.kubeflow.org/hbench created' ;;
get) echo '{"items": [{"kind": "MPIJob", "status": {"conditions": [{"type": "Failed", "status": "True"}]}},
  {"kind": "Pod", "metadata": {"labels": {"app.kubernetes.io/component": "launcher"}},
   "status": {"containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}}]}' ;;
logs) for line in 1 2 3 4 5 6 7 8; do echo "try $line"; done
  printf 'hbench: cannot write the report into /results/hbench-report: \033[31mPermission denied\n' ;;
esac)";

TEST_F(SubmitVerb, ShowsTheEndOfALogThatCouldNotBeFollowed) {
  program("kubectl", kFailedLauncher);
  engine_ = "kubernetes";
  EXPECT_EQ(submit({"--image", "registry.example/hbench", "--wait"}), ExitCode::environment);
  EXPECT_THAT(err_, HasSubstr(fmt::format("The end of {}/launcher.log:\n  try 2\n", results().string())));
  EXPECT_THAT(err_, HasSubstr("  hbench: cannot write the report into /results/hbench-report: "));
  EXPECT_THAT(err_, HasSubstr("hbench: the job left no database in "));
  EXPECT_THAT(err_, Not(HasSubstr("\033")));
}

TEST_F(SubmitVerb, LeavesOneJobToAFolder) {
  EXPECT_EQ(submit({}), ExitCode::good);
  sbatch_is("echo 13");
  expect_error([&] { submit({}); }, ExitCode::usage,
               StrEq(fmt::format("job 12 writes into {}: RUNNING on n1", results().string())),
               "wait for its end, end it (scancel 12), or choose another folder with --results");
  EXPECT_EQ(bytes_of(results() / "hbench.slurm.job"), "12\n");
  job_is("COMPLETED");
  EXPECT_EQ(submit({}), ExitCode::good);
  EXPECT_EQ(bytes_of(results() / "hbench.slurm.job"), "13\n");
}

TEST_F(SubmitVerb, RepeatsWhySbatchRefuses) {
  sbatch_is("echo 'sbatch: error: invalid partition specified: nope' >&2; exit 1");
  expect_error(
      [&] {
        submit({"--partition", "nope"});
      },
      ExitCode::environment, StrEq("sbatch: error: invalid partition specified: nope"), StrEq(""));
  EXPECT_FALSE(std::filesystem::exists(results() / "hbench.slurm.job"));
}

TEST_F(SubmitVerb, NamesWhatIsMissingOnThisMachine) {
  std::filesystem::remove(folder_ / "bin" / "sbatch");
  setenv("PATH", (folder_ / "bin").c_str(), 1);
  expect_error([&] { submit({}); }, ExitCode::environment, StrEq("--engine slurm: sbatch is not on the PATH"),
               "run this where jobs are submitted (a login node), or install Slurm's commands (Debian: slurm-client)");
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(SubmitVerb, NamesAFolderThatCannotBeWritten) {
  write_bytes(results(), "a file");
  expect_error([&] { submit({}); }, ExitCode::environment,
               StrEq(fmt::format("cannot write into the folder {}: Not a directory", results().string())),
               "choose one that you may write to and all hosts share with --results FOLDER");
}

}  // namespace
}  // namespace hbench::submit_verb_test
