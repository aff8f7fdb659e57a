
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/submission_example.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::submit_spark_test {

namespace {

const Engine& spark() { return find_entry(engines(), "spark", "engine"); }

Submission example() {
  Submission submission{.job = "nightly",
                        .sweep = {"--gpus", "1..8", "--workload", "resnet18"},
                        .nodes = 2,
                        .ranks_per_node = 4,
                        .program = "/opt/hbench/bin/hbench",
                        .folder = "/data/nightly"};
  set_standard_options(submission, spark());
  submission.options["master"] = "spark://head:7077";
  return submission;
}

std::string script() { return (installation().data / "spark/hbench_spark.py").string(); }

/// The words that a shell gives to spark-submit, and to nothing else.
std::vector<std::string> words_of(const std::string& rendered) {
  const TemporaryFolder folder;
  write_program(folder / "spark-submit", "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done > \"$WORDS\"\n");
  const Exit exit = run_process({.argv = {"/bin/sh", "-c", rendered},
                                 .environment = {{"PATH", folder.path().string()}, {"WORDS", folder / "words"}}});
  EXPECT_EQ(exit.code, 0) << exit.error_tail;
  std::vector<std::string> words{"spark-submit"};
  const std::string written = bytes_of(folder / "words");
  for (std::size_t begin = 0; begin < written.size();) {
    words.emplace_back(written.c_str() + begin);
    begin += words.back().size() + 1;
  }
  return words;
}

TEST(SparkEngine, RendersOneExecutorAndOneTaskForEachNode) {
  EXPECT_EQ(spark().render(example()),
            "spark-submit --deploy-mode client --name nightly --master spark://head:7077 \\\n"
            "  --conf spark.executor.cores=4 \\\n"
            "  --conf spark.task.cpus=4 \\\n"
            "  --conf spark.cores.max=8 \\\n"
            "  --conf spark.executor.instances=2 \\\n"
            "  --conf spark.executor.memory=1g \\\n"
            "  --conf spark.log.level=ERROR \\\n"
            "  " +
                script() +
                " --tasks 2 --slots 4 --timeout 600 \\\n"
                "  -- /opt/hbench/bin/hbench sweep --gpus 1..8 --workload resnet18 --db /data/nightly/hbench.db"
                " --report /data/nightly/hbench-report --resume\n");
}

TEST(SparkEngine, FindsItsProgramInTheInstallation) {
  for (const char* file : {"hbench_spark.py", "hbench_hosts.py", "hbench_keeper.py", "hbench_agent.py"})
    EXPECT_TRUE(std::filesystem::is_regular_file(installation().data / "spark" / file)) << file;
}

TEST(SparkEngine, SubmitsWhatItRendersWhateverTheWordsAre) {
  Submission submission = example();
  submission.folder = "/data/it's $HOME; `id` \"5\" !!";
  submission.sweep = {"--label", "note=a\nb", "--name", "", "--", "*", "\\"};
  submission.options["spark-conf"] = "spark.a=1 2;spark.executor.extraJavaOptions=-Da='$x'";
  const std::vector<std::string> submitted = spark().submit(submission, "unused");
  EXPECT_THAT(words_of(spark().render(submission)), ElementsAreArray(submitted));
  EXPECT_THAT(submitted, IsSupersetOf({"spark.a=1 2", "spark.executor.extraJavaOptions=-Da='$x'"}));
  EXPECT_THAT(submitted, Contains("/data/it's $HOME; `id` \"5\" !!/hbench.db"));
}

TEST(SparkEngine, AsksForTheGpusMemoryAndTimeOfANode) {
  Submission submission = example();
  submission.gpus_per_node = 8;
  submission.time_limit = Seconds(5400.2);
  submission.options["executor-memory-overhead"] = "64g";
  const std::string text = spark().render(submission);
  EXPECT_THAT(text, HasSubstr("--conf spark.executor.resource.gpu.amount=8"));
  EXPECT_THAT(text, HasSubstr("--conf spark.task.resource.gpu.amount=8"));
  EXPECT_THAT(text, HasSubstr("--conf spark.executor.memoryOverhead=64g"));
  EXPECT_THAT(text, HasSubstr(" --time-limit 5401 "));
  const std::string without = spark().render(example());
  for (const char* word : {"gpu.amount", "memoryOverhead", "--time-limit"}) EXPECT_THAT(without, Not(HasSubstr(word)));
}

TEST(SparkEngine, LeavesTheMasterToSparksOwnFilesWhereNoneIsNamed) {
  Submission submission = example();
  submission.options["master"] = "";
  EXPECT_THAT(spark().render(submission), Not(HasSubstr("--master")));
}

TEST(SparkEngine, RefusesSettingsThatSparkWouldIgnoreOrThatContradictTheNodes) {
  const auto refused = [](const char* option, const char* value) {
    Submission submission = example();
    submission.options[option] = value;
    return spark().refuses(submission);
  };
  EXPECT_EQ(refused("spark-conf", "spark.a=1;;spark.b="), "");
  EXPECT_EQ(refused("spark-conf", "spark.a=1;b=2"),
            "--spark-conf 'b=2' is no setting of Spark; write spark.NAME=VALUE");
  EXPECT_EQ(refused("spark-conf", "spark.a"), "--spark-conf 'spark.a' is no setting of Spark; write spark.NAME=VALUE");
  EXPECT_EQ(refused("spark-conf", "spark.task.cpus=2"),
            "--spark-conf sets spark.task.cpus, which follows from the number of nodes and GPUs");
  EXPECT_EQ(refused("start-timeout", "5 min"), "--start-timeout '5 min' is no whole number of seconds");
  EXPECT_EQ(refused("start-timeout", ""), "--start-timeout '' is no whole number of seconds");
}

TEST(SparkEngine, IsAbsentWithACureWhereSparkSubmitIsNotOnThePath) {
  const TemporaryFolder folder;
  const Availability absent = spark().availability(folder.path().string());
  EXPECT_FALSE(absent.available);
  EXPECT_EQ(absent.reason, "spark-submit is not on the PATH");
  EXPECT_EQ(absent.cure, "add the folder bin of Spark 3.4 or newer to it (PyPI: pyspark)");
  write_program(folder / "spark-submit", "#!/bin/sh\n");
  EXPECT_TRUE(spark().availability(folder.path().string()).available);
}

TEST(SparkEngine, HasNothingToAskOrFetchSinceItsCommandEndsWithTheJob) {
  EXPECT_EQ(spark().ask, nullptr);
  EXPECT_EQ(spark().job_of(example(), "whatever is printed"), "nightly");
  EXPECT_TRUE(spark().fetch(example(), "nightly").empty());
}

}  // namespace
}  // namespace hbench::submit_spark_test
