#include <fmt/format.h>

#include <cstdlib>

#include "collectives/base/text.hpp"
#include "tests/bench/submission_example.hpp"
#include "tests/support/hostile_text.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::submit_slurm_test {
namespace {

const Engine& slurm() { return find_entry(engines(), "slurm", "engine"); }
Submission example() { return submission_example(slurm()); }

TEST(SlurmScript, IsWhatSbatchAndThenBashRead) {
  EXPECT_EQ(slurm().render(example()), R"END(#!/bin/bash
# Made by hbench submit. Each start goes on where the last one ended: sbatch THIS_FILE
#SBATCH --job-name=hbench
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=1
#SBATCH --exclusive
#SBATCH --signal=B:USR1@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="/shared/run7/slurm-%j.log"
#SBATCH --chdir="/home/ada/work"

hbench=/opt/hbench/bin/hbench
results=/shared/run7
restarts=8

stop() { echo "hbench: $1 on $(hostname)" >&2; echo "  $2" >&2; exit 3; }
[ -x "$hbench" ] || stop "there is no $hbench" 'install hbench there, or name a program that all nodes see with --program'
[ -w "$results" ] || stop "$results cannot be written" 'name a folder that all nodes share with --results'
[ -e "$results/hbench.slurm" ] || stop "$results is another folder" 'name a folder that all nodes share with --results'
"$hbench" sweep --gpus 1..4 --label "branch=a b" --expect-hosts 2 \
  --db "$results/hbench.db" --report "$results/hbench-report" --resume &
sweep=$!

# Before the time limit Slurm sends USR1 to this script alone. The sweep then ends as with Ctrl-C: what is finished is kept.
again=
trap 'again=yes; kill -INT "$sweep"' USR1
trap 'again=; kill -TERM "$sweep"' TERM INT
while wait "$sweep"; code=$?; [ "$code" -gt 128 ] && kill -0 "$sweep" 2> /dev/null; do :; done

if [ -n "$again" ] && [ "$code" = 130 ]; then
  if [ "${SLURM_RESTART_COUNT:-0}" -ge "$restarts" ]; then
    echo "hbench: the time limit is near, and the job has started again $restarts times; submit it once more for the rest" >&2
  else
    # First, since the job may be ended before scontrol has.
    echo 'hbench: the time limit is near; the rest is done when the job starts again' >&2
    if scontrol requeue "$SLURM_JOB_ID"; then exit 0; fi
  fi
fi
exit "$code"
)END");
}

std::string directives_of(const Submission& submission) {
  const std::string script = slurm().render(submission);
  const std::size_t begin = script.find("#SBATCH");
  return script.substr(begin, script.find("\n\n") + 1 - begin);
}

TEST(SlurmScript, AsksForGpusTimeAndWhatTheSiteWantsToKnow) {
  Submission submission = example();
  submission.gpus_per_node = 8;
  submission.ranks_per_node = 8;
  submission.time_limit = Seconds(90.5 * 60);
  submission.options["partition"] = "gpu";
  submission.options["account"] = "a\"b\\c d";
  submission.options["constraint"] = "a100&ib";
  submission.options["exclusive"] = "no";
  submission.options["restarts"] = "0";
  submission.folder = "/shared/100%j";
  EXPECT_EQ(directives_of(submission), R"END(#SBATCH --job-name=hbench
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=91
#SBATCH --signal=B:USR1@60
#SBATCH --no-requeue
#SBATCH --no-kill
#SBATCH --open-mode=append
#SBATCH --output="/shared/100%%j/slurm-%j.log"
#SBATCH --chdir="/home/ada/work"
#SBATCH --partition="gpu"
#SBATCH --account="a\"b\\c d"
#SBATCH --constraint="a100&ib"
)END");
  submission.options["cpus-per-task"] = "12";
  EXPECT_THAT(directives_of(submission), HasSubstr("#SBATCH --cpus-per-task=12\n#SBATCH --gpus-per-node=8\n"));
}

TEST(SlurmScript, HasTheOptionsOfTheSiteInThePlaceOfGpusPerNode) {
  Submission submission = example();
  submission.gpus_per_node = 4;
  submission.options["gres"] = "gpu:a100:4";
  submission.options["sbatch"] = "--licenses=lustre\n-C ib";
  EXPECT_EQ(slurm().refuses(submission), "");
  EXPECT_THAT(directives_of(submission),
              AllOf(HasSubstr("#SBATCH --gres=\"gpu:a100:4\"\n#SBATCH --licenses=lustre\n#SBATCH -C ib\n"),
                    Not(HasSubstr("--gpus-per-node"))));
  submission.options["gres"] = "";
  EXPECT_THAT(directives_of(submission), HasSubstr("--gpus-per-node=4"));
  for (const char* line : {"--gres=gpu:4", "--gres gpu:4", "--gpus-per-task=1", "-G 8"}) {
    submission.options["sbatch"] = line;
    EXPECT_THAT(directives_of(submission), Not(HasSubstr("--gpus-per-node"))) << line;
  }
  for (const char* line : {"gres=gpu:4", "-", "--nodes=3", "-o x", "--no-requeue", "a; b"}) {
    submission.options["sbatch"] = line;
    EXPECT_THAT(slurm().refuses(submission), StartsWith(std::string("--sbatch '") + line)) << line;
  }
  submission.options["sbatch"] = "--gres=gpu:8";
  EXPECT_EQ(slurm().refuses(submission), "--gres asks for 8 GPUs of each node, and --gpus-per-node for 4");
}

TEST(SlurmScript, TakesItsGpusFromGres) {
  Submission::Options options = example().options;
  for (const auto& [gres, gpus] : {std::pair{"gpu:4", 4},
                                   {"gpu:a100:2", 2},
                                   {"gpu", 1},
                                   {"gpu:a100", 1},
                                   {"nvme:1,gpu:8", 8},
                                   {"nvme:1", 0},
                                   {"", 0}}) {
    options["gres"] = gres;
    EXPECT_EQ(slurm().gpus_per_node(options), gpus) << gres;
  }
  options["sbatch"] = "--mem=0\n--gres=gpu:a100:4";
  EXPECT_EQ(slurm().gpus_per_node(options), 4);
}

TEST(SlurmScript, RunsTheSetupBeforeItLooksForTheProgram) {
  Submission submission = example();
  submission.options["setup"] = "module load openmpi";
  EXPECT_THAT(slurm().render(submission), HasSubstr("restarts=8\nmodule load openmpi\n\nstop()"));
}

/// A job's script, run by bash with programs of our own in the place of hbench and scontrol.
class SlurmJob : public testing::Test {
 protected:
  SlurmJob() {
    submission_ = example();
    submission_.program = folder_ / "hbench's $(touch no)";
    submission_.folder = folder_ / "it's \"$(touch no)\" `touch no` 100%j";
    std::filesystem::create_directory(submission_.folder);
    write_bytes(submission_.folder / "hbench.slurm", "what was submitted");
    write_program(folder_ / "scontrol", fmt::format("#!/bin/sh\necho \"$@\" >> '{}'\n", requeues().string()));
  }

  std::filesystem::path requeues() const { return folder_ / "requeues"; }
  void hbench_is(std::string_view script) const { write_program(submission_.program, script); }
  /// How the script ends when `meanwhile` is done to $job, its process, once hbench has written `ready`.
  int run(const std::string& meanwhile = ":", const std::string& environment = "") const {
    write_bytes(folder_ / "script", slurm().render(submission_));
    const std::string shell = fmt::format(
        "cd {0}; export PATH={0}:$PATH SLURM_JOB_ID=12 {1}\nbash script 2> errors & job=$!\n"
        "while [ ! -e ready ] && kill -0 $job 2> /dev/null; do sleep 0.01; done; sleep 0.1\n{2}\nwait $job",
        shell_word(folder_.path().string()), environment, meanwhile);
    const int status = std::system(("bash -c " + shell_word(shell)).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string errors() const { return bytes_of(folder_ / "errors"); }

  const TemporaryFolder folder_;
  Submission submission_;
};

TEST_F(SlurmJob, GivesTheSweepItsArgumentsWhateverTheyHold) {
  submission_.sweep.clear();
  for (const std::string& text : kHostile)
    if (text.find('\0') == text.npos) submission_.sweep.push_back(text);
  hbench_is("#!/bin/sh\nprintf '%s\\0' \"$@\" > arguments\n");
  ASSERT_EQ(run(), 0) << errors();
  std::string expected = std::string("sweep") + '\0';
  for (const std::string& text : submission_.sweep) expected += text + '\0';
  for (const std::string& text : {std::string("--expect-hosts"), std::string("2"), std::string("--db"),
                                  (submission_.folder / "hbench.db").string(), std::string("--report"),
                                  (submission_.folder / "hbench-report").string(), std::string("--resume")})
    expected += text + '\0';
  EXPECT_EQ(bytes_of(folder_ / "arguments"), expected);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "no")) << "a shell has run what is in a name";
}

TEST_F(SlurmJob, EndsWithTheCodeOfTheSweep) {
  hbench_is("#!/bin/sh\nexit 5\n");
  EXPECT_EQ(run(), 5);
  EXPECT_FALSE(std::filesystem::exists(requeues()));
}

/// Bash starts what is in the background with SIGINT ignored, which hbench changes and a shell there could not.
constexpr std::string_view kLongSweep = R"(#!/bin/sh
exec env --default-signal=INT bash -c '
  trap "echo INT >> signals; exit 130" INT
  trap "echo TERM >> signals; exit 130" TERM
  touch ready
  while :; do sleep 0.02; done'
)";

TEST_F(SlurmJob, EndsTheSweepAndStartsAgainWhenTheTimeLimitIsNear) {
  hbench_is(kLongSweep);
  EXPECT_EQ(run("kill -USR1 $job"), 0) << errors();
  EXPECT_EQ(bytes_of(folder_ / "signals"), "INT\n");
  EXPECT_EQ(bytes_of(requeues()), "requeue 12\n");
  EXPECT_EQ(errors(), "hbench: the time limit is near; the rest is done when the job starts again\n");
}

TEST_F(SlurmJob, DoesNotStartAgainForEver) {
  hbench_is(kLongSweep);
  EXPECT_EQ(run("kill -USR1 $job", "SLURM_RESTART_COUNT=8"), 130);
  EXPECT_FALSE(std::filesystem::exists(requeues()));
  EXPECT_EQ(
      errors(),
      "hbench: the time limit is near, and the job has started again 8 times; submit it once more for the rest\n");
}

TEST_F(SlurmJob, DoesNotStartAgainWhenItIsCancelled) {
  hbench_is(kLongSweep);
  EXPECT_EQ(run("kill -TERM $job"), 130);
  EXPECT_EQ(bytes_of(folder_ / "signals"), "TERM\n");
  EXPECT_FALSE(std::filesystem::exists(requeues()));
}

TEST_F(SlurmJob, SaysWhatItsNodeLacks) {
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(errors(), StartsWith(fmt::format("hbench: there is no {} on ", submission_.program.string())));
  EXPECT_THAT(errors(), HasSubstr("--program"));
  hbench_is("#!/bin/sh\n");
  std::filesystem::remove(submission_.folder / "hbench.slurm");
  EXPECT_EQ(run(), 3) << "this node has another folder of that name";
  EXPECT_THAT(errors(), HasSubstr("is another folder on "));
  std::filesystem::remove(submission_.folder);
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(errors(), HasSubstr("cannot be written on "));
}

std::string refusal_of(const std::string& option, const std::string& value) {
  Submission submission = example();
  submission.options[option] = value;
  return slurm().refuses(submission);
}

TEST(SlurmEngine, RefusesWhatNoScriptCanSay) {
  EXPECT_EQ(slurm().refuses(example()), "");
  EXPECT_EQ(refusal_of("partition", "a\n#SBATCH --uid=0"),
            "the value of --partition has a line break or another control character");
  EXPECT_EQ(refusal_of("restarts", "-1"), "--restarts -1: not a whole number, 0 or more");
  EXPECT_EQ(refusal_of("restarts", "1.5"), "--restarts 1.5: not a whole number, 0 or more");
  EXPECT_EQ(refusal_of("cpus-per-task", "0"), "--cpus-per-task 0: not a whole number, 1 or more");
  EXPECT_EQ(refusal_of("exclusive", "true"), "--exclusive true: neither yes nor no");
  Submission submission = example();
  submission.folder = "/a\nb";
  EXPECT_EQ(slurm().refuses(submission), "a folder's name has a line break or another control character");
  submission.folder = "/a\\b";
  EXPECT_EQ(slurm().refuses(submission), "the folder of --results has a backslash in its name, which Slurm leaves out");
  submission = example();
  submission.time_limit = Seconds(179);
  EXPECT_EQ(slurm().refuses(submission),
            "--time is less than 3 minutes; Slurm counts whole ones, and the sweep ends in the last two");
  submission.time_limit = Seconds(180);
  EXPECT_EQ(slurm().refuses(submission), "");
}

TEST(SlurmEngine, IsAbsentWithACureWhereItsCommandsAre) {
  const TemporaryFolder folder;
  const Availability there = slurm().availability(folder.path().string());
  EXPECT_FALSE(there.available);
  EXPECT_EQ(there.reason, "sbatch is not on the PATH");
  EXPECT_EQ(there.cure,
            "run this where jobs are submitted (a login node), or install Slurm's commands (Debian: slurm-client)");
  write_program(folder / "sbatch", "#!/bin/sh\n");
  EXPECT_EQ(slurm().availability(folder.path().string()).reason, "scontrol is not on the PATH");
  write_program(folder / "scontrol", "#!/bin/sh\n");
  EXPECT_TRUE(slurm().availability(folder.path().string()).available);
}

TEST(SlurmEngine, SubmitsFindsAndCancelsAJob) {
  EXPECT_THAT(slurm().submit(example(), "/r/a b"), ElementsAre("sbatch", "--parsable", "/r/a b"));
  EXPECT_EQ(slurm().job_of(example(), "12\n"), "12");
  EXPECT_EQ(slurm().job_of(example(), "12;west\n"), "12");
  EXPECT_EQ(slurm().job_of(example(), "Submitted batch job 12\n"), "");
  EXPECT_EQ(slurm().job_of(example(), ""), "");
  EXPECT_THAT(slurm().cancel(example(), "12"), ElementsAre("scancel", "12"));
  EXPECT_EQ(slurm().log(example(), "12"), "/shared/run7/slurm-12.log");
  EXPECT_TRUE(slurm().fetch(example(), "12").empty());
}

/// As Slurm 22.05 prints them, cut.
std::string shown(const std::string& state, const std::string& reason, const std::string& exit_code,
                  const std::string& nodes = "(null)", int restarts = 0) {
  return fmt::format(
      "JobId=7 JobName=hbench UserId=root(0) MCS_label=N/A Account=(null) QOS=(null) JobState={} Reason={} "
      "Dependency=(null) Requeue=1 Restarts={} BatchFlag=1 Reboot=0 ExitCode={} RunTime=00:00:02 "
      "ReqNodeList=(null) ExcNodeList=(null) NodeList={} BatchHost=n1 Command=/x JobState=FAILED/y Power= \n",
      state, reason, restarts, exit_code, nodes);
}

void expect_state(const std::string& printed, JobState::Phase phase, const std::string& words,
                  std::optional<int> exit_code = std::nullopt) {
  const JobState state = slurm().state(printed);
  EXPECT_EQ(state.phase, phase) << printed;
  EXPECT_EQ(state.words, words);
  EXPECT_EQ(state.exit_code, exit_code) << printed;
}

TEST(SlurmState, IsReadFromTheController) {
  using enum JobState::Phase;
  expect_state(shown("PENDING", "Resources", "0:0"), waiting, "PENDING (Resources)");
  expect_state(shown("PENDING", "BeginTime", "0:0", "(null)", 1), waiting, "PENDING (BeginTime), restart 1");
  expect_state(shown("CONFIGURING", "None", "0:0", "n[1-2]"), waiting, "CONFIGURING");
  expect_state(shown("RUNNING", "None", "0:0", "n[1-2]"), running, "RUNNING on n[1-2]");
  expect_state(shown("RUNNING", "None", "0:0", "n2", 3), running, "RUNNING on n2, restart 3");
  expect_state(shown("COMPLETING", "NonZeroExitCode", "5:0", "n2"), running, "COMPLETING on n2 (NonZeroExitCode)");
  expect_state(shown("COMPLETED", "None", "0:0", "n1"), done, "COMPLETED", 0);
  expect_state(shown("FAILED", "NonZeroExitCode", "5:0", "n1"), failed, "FAILED (exit code 5)", 5);
  expect_state(shown("FAILED", "JobLaunchFailure", "0:53", "n1"), failed, "FAILED (JobLaunchFailure)", 3);
  expect_state(shown("FAILED", "RaisedSignal:9", "0:9", "n1"), failed, "FAILED (exit code 137)", 137);
  expect_state(shown("CANCELLED", "None", "0:15", "n1"), failed, "CANCELLED", 130);
  expect_state(shown("TIMEOUT", "TimeLimit", "0:15", "n1"), failed, "TIMEOUT (TimeLimit)", 5);
  expect_state(shown("NODE_FAIL", "NodeDown", "0:0", "n1"), failed, "NODE_FAIL (NodeDown)", 5);
}

TEST(SlurmState, IsReadFromAccountingWhereTheControllerHasForgottenTheJob) {
  using enum JobState::Phase;
  expect_state("COMPLETED|0:0|None\n", done, "COMPLETED", 0);
  expect_state("CANCELLED by 1000|0:0|None\n", failed, "CANCELLED", 130);
  expect_state("FAILED|3:0|NonZeroExitCode\n", failed, "FAILED (exit code 3)", 3);
  expect_state("OUT_OF_MEMORY|0:125|None\n", failed, "OUT_OF_MEMORY", 5);
}

TEST(SlurmState, OfDamagedAnswersIsNoEnd) {
  for (const char* printed : {"", "\n", "|||", "slurm_load_jobs error", " JobState=", "JobId=7 JobState"})
    EXPECT_EQ(slurm().state(printed).phase, JobState::Phase::waiting) << printed;
}

}  // namespace
}  // namespace hbench::submit_slurm_test
