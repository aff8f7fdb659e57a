#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/submit/submit.hpp"
#include "collectives/base/table.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::submit_options_test {
namespace {

std::optional<SubmitOptions> parsed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--engine", "slurm"});
  return parse_submit_options({arguments, "hbench submit ..."});
}

TEST(SubmitOptions, HaveStandardsForAll) {
  const auto options = parsed({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->engine->name, "slurm");
  const Submission& submission = options->submission;
  EXPECT_EQ(submission.job, "hbench");
  EXPECT_THAT(submission.sweep, IsEmpty());
  EXPECT_EQ(submission.nodes, 1);
  EXPECT_EQ(submission.ranks_per_node, 1);
  EXPECT_EQ(submission.gpus_per_node, 0);
  EXPECT_EQ(submission.time_limit.value, 0);
  EXPECT_EQ(submission.program, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(submission.folder, std::filesystem::current_path() / "hbench-results");
  EXPECT_EQ(submission.directory, std::filesystem::current_path());
  EXPECT_EQ(submission.options.size(), options->engine->options.size());
  EXPECT_EQ(submission.options.at("exclusive"), "yes");
  EXPECT_EQ(submission.options.at("partition"), "");
  EXPECT_FALSE(options->dry_run);
  EXPECT_FALSE(options->wait);
}

TEST(SubmitOptions, AreSubmitsTheEnginesOrTheSweeps) {
  const auto options =
      parsed({"--gpus",          "1,2",       "--nodes", "3",      "--partition", "gpu",     "--workload=resnet18",
              "--gpus-per-node", "4",         "--time",  "1.5h",   "--results",   "/r/../s", "--name",
              "run-7",           "--program", "/p",      "--wait", "--resume",    "--label", "branch=a b",
              "--quiet"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->wait);
  const Submission& submission = options->submission;
  EXPECT_EQ(submission.nodes, 3);
  EXPECT_EQ(submission.gpus_per_node, 4);
  EXPECT_EQ(submission.ranks_per_node, 4) << "one for each GPU";
  EXPECT_EQ(submission.time_limit.value, 5400);
  EXPECT_EQ(submission.folder, "/s");
  EXPECT_EQ(submission.job, "run-7");
  EXPECT_EQ(submission.program, "/p");
  EXPECT_EQ(submission.options.at("partition"), "gpu");
  EXPECT_THAT(submission.sweep,
              ElementsAre("--gpus", "1,2", "--workload=resnet18", "--label", "branch=a b", "--quiet"));
}

TEST(SubmitOptions, TakeTimesAsSlurmWritesThem) {
  for (const auto& [text, seconds] : {std::pair{"4:00:00", 14400.0},
                                      {"0-04:00:00", 14400.0},
                                      {"240", 14400.0},
                                      {"240:30", 14430.0},
                                      {"1-12", 129600.0},
                                      {"1-12:30", 131400.0},
                                      {"4h", 14400.0}}) {
    const auto options = parsed({"--time", text});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->submission.time_limit.value, seconds) << text;
  }
}

TEST(SubmitOptions, OfSbatchMayBeGivenSeveralTimes) {
  const auto options = parsed({"--sbatch", "--gres=gpu:a100:4", "--sbatch=--mem=0"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->submission.options.at("sbatch"), "--gres=gpu:a100:4\n--mem=0");
  EXPECT_EQ(options->submission.gpus_per_node, 4);
  EXPECT_EQ(options->submission.ranks_per_node, 4);
  EXPECT_EQ(parsed({"--gres", "gpu:2"})->submission.gpus_per_node, 2);
}

TEST(SubmitOptions, BehindTwoDashesAreTheSweeps) {
  const auto options = parsed({"--ranks-per-node", "4", "--gpus", "1", "--", "--launches", "3"});
  ASSERT_TRUE(options);
  EXPECT_THAT(options->submission.sweep, ElementsAre("--gpus", "1", "--launches", "3"));
}

TEST(SubmitOptions, OfTheSweepMayNameWhatOnlyTheJobHas) {
  EXPECT_TRUE(parsed({"--gpus-per-node", "8", "--nodes", "2", "--gpus", "16", "--device", "gpu"}));
}

void expect_mistake_in(const std::vector<std::string>& arguments, const char* message, const char* hint) {
  expect_error(
      [&] {
        parse_submit_options({arguments, "hbench submit ..."});
      },
      ExitCode::usage, HasSubstr(message), HasSubstr(hint));
}

TEST(SubmitOptions, ThatAreMistakenAreOneLineWithACure) {
  expect_mistake_in({}, "no engine is named", "--engine slurm");
  expect_mistake_in({"--engine", "slrum"}, "no engine 'slrum'; did you mean 'slurm'?", "known: slurm");
  expect_mistake_in({"--engine=slrum"}, "no engine 'slrum'", "known: slurm");
  for (const char* manager : {"pbs", "lsf", "sge"})
    expect_error(
        [&] {
          parse_submit_options({{"--engine", manager}, "hbench submit ..."});
        },
        ExitCode::usage, HasSubstr(fmt::format("no engine '{}'", manager)),
        fmt::format("known: {}; in a job script of PBS, LSF or Grid Engine, hbench sweep takes its hosts from "
                    "the job",
                    fmt::join(names_of(engines()), ", ")));
  expect_mistake_in({"--engine"}, "--engine needs a value", "hbench submit --help");
  const auto of_slurm = [](std::vector<std::string> arguments, const char* message, const char* hint) {
    arguments.insert(arguments.begin(), "--engine=slurm");
    expect_mistake_in(arguments, message, hint);
  };
  of_slurm({"--gpu", "8"}, "unknown option '--gpu'; did you mean '--gpus'?", "hbench sweep --help");
  of_slurm({"--partiton", "a"}, "unknown option '--partiton'; did you mean '--partition'?",
           "hbench submit --engine slurm --help");
  of_slurm({"--workload", "resnet5"}, "no workload 'resnet5'; did you mean 'resnet50'?", "known:");
  of_slurm({"--algorithm", "rng"}, "no algorithm 'rng'; did you mean 'ring'?", "known:");
  of_slurm({"--", "8"}, "unexpected argument '8'", "hbench sweep --help");
  of_slurm({"--nodes", "0"}, "--nodes: Value 0 not in range", "--help");
  of_slurm({"--nodes", "1..4"}, "--nodes", "--help");
  of_slurm({"--time", "4 parsecs"}, "--time 4 parsecs: not a time", "4h, 90min or 2d");
  of_slurm({"--time", "-1h"}, "--time -1h: not a time", "4h");
  of_slurm({"--time", "1:2:3:4"}, "--time 1:2:3:4: not a time", "4h");
  of_slurm({"--time", "0:00"}, "--time 0:00: not a time", "4h");
  of_slurm({"--sbatch", "--mem=0\n--nodes=4"}, "--sbatch is given what is no single line", "each line");
  of_slurm({"--sbatch", "--nodes=4"}, "the script has its own --nodes", "--help");
  of_slurm({"--gres", "gpu:4", "--gpus-per-node", "8"}, "--gres asks for 4 GPUs", "--help");
  of_slurm({"--time", "2min"}, "--time is less than 3 minutes", "--help");
  of_slurm({"--name", "Run 7"}, "--name Run 7: not a name of a job", "resnet-7");
  of_slurm({"--db", "x.db"}, "--db is in the folder of --results", "--results");
  of_slurm({"--report=r"}, "--report is in the folder of --results", "--results");
  of_slurm({"--", "--dry-run"}, "a sweep with --dry-run measures nothing", "hbench sweep --dry-run");
  of_slurm({"--dry-run", "--wait"}, "excludes", "--help");
  of_slurm({"--exclusive", "maybe"}, "--exclusive maybe: neither yes nor no", "--help");
}

}  // namespace
}  // namespace hbench::submit_options_test
