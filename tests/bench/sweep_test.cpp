
#include "collectives/base/file.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::sweep_test {
namespace {

using nlohmann::json;

std::vector<std::string> sweep(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = words_in(
      "sweep --gpus 1..64 --workload resnet50,vgg16 --profile hkbu-10gbe --evidence simulated,published --quiet");
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(SimulatedSweep, ExportsTheSameBytesTwice) {
  const Workplace first, second;
  ASSERT_EQ(first.run(sweep()).code, 0);
  ASSERT_EQ(second.run(sweep()).code, 0);
  const std::string text = first.run({"export", "--json"}).out;
  EXPECT_EQ(text, second.run({"export", "--json"}).out);
  EXPECT_GT(json::parse(text).size(), 50);
}

TEST(SimulatedSweep, PrintsItsPointsAsJsonAndNothingElse) {
  const Workplace workplace;
  const Outcome outcome = workplace.run(sweep({"--json"}));
  ASSERT_EQ(outcome.code, 0);
  EXPECT_EQ(json::parse(outcome.out), exported(workplace));
}

TEST(SimulatedSweep, SaysWhereItsReportAndResultsAre) {
  const Workplace workplace;
  const Outcome outcome = workplace.run(sweep({"--report", "my/report", "--db", "my.db"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Report: my/report/index.html\nResults: my.db\n"));
  EXPECT_THAT(bytes_of(workplace / "my/report/index.html"), HasSubstr("</html>"));
}

TEST(SimulatedSweep, WithResumeRepeatsNothing) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep()).code, 0);
  run_sql(workplace / "hbench.db", "UPDATE sample SET value = value * 2");  // to know them again
  const json before = exported(workplace);
  const Outcome outcome = workplace.run(sweep({"--resume"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(exported(workplace), before);
}

TEST(SimulatedSweep, WithResumeDoesWhatIsNew) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep({"--algorithm", "ring"})).code, 0);
  const json before = exported(workplace);
  ASSERT_EQ(workplace.run(sweep({"--algorithm", "ring,ps", "--resume"})).code, 0);
  const json after = exported(workplace);
  EXPECT_GT(after.size(), before.size());
  for (const json& point : before) EXPECT_THAT(after, Contains(point));
}

TEST(SimulatedSweep, WithResumeRepeatsWhatOtherCodeHasAnswered) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep({"--label", "commit=abc"})).code, 0);
  const json before = exported(workplace);
  run_sql(workplace / "hbench.db", "UPDATE scaling_case SET implementation = 'simulator/0' WHERE gpus = 4");
  ASSERT_EQ(workplace.run(sweep({"--label", "commit=abc", "--resume"})).code, 0);
  const json after = exported(workplace);
  ASSERT_EQ(after.size(), before.size()) << "one answer to each question";
  for (const json& point : after) EXPECT_EQ(point.at("run"), point.at("gpus") == 4 ? 2 : 1);
  ASSERT_EQ(workplace.run(sweep({"--label", "commit=def", "--resume"})).code, 0);
  for (const json& point : exported(workplace)) EXPECT_EQ(point.at("run"), 3) << "another commit answers for itself";
}

TEST(LabelsOfARun, AreStoredWithTheRunAndExported) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep({"--label", "branch=main", "--label", "commit=abc"})).code, 0);
  for (const json& point : exported(workplace))
    ASSERT_EQ(point.at("labels"), (json{{"branch", "main"}, {"commit", "abc"}}));
  EXPECT_THAT(workplace.run({"export", "--format", "csv"}).out, HasSubstr(",branch=main commit=abc\n"));
  for (const char* verb : {"sweep", "collective"}) {
    const Outcome outcome = workplace.run({verb, "--label", "main"});
    EXPECT_EQ(outcome.code, 2) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("'main'")) << verb;
  }
}

TEST(AnEditedDatabase, WithATimeBelowZeroIsWrongData) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep()).code, 0);
  run_sql(workplace / "hbench.db",
          "UPDATE sample SET value = -1 WHERE metric = 'step_seconds' AND case_id = (SELECT id FROM scaling_case WHERE "
          "evidence = 'simulated' AND workload = 'vgg16' AND gpus = 8 LIMIT 1)");
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"export"}, {"report", "--format", "text"}}) {
    const Outcome outcome = workplace.run(verb);
    EXPECT_EQ(outcome.code, 4) << verb.front();
    for (const char* fact : {"simulated", "vgg16", "8 GPUs", "step_seconds", "-1"})
      EXPECT_THAT(outcome.err, HasSubstr(fact)) << verb.front();
  }
}

TEST(DryRun, PrintsThePlanAndRunsNothing) {
  const Workplace workplace;
  const Outcome outcome =
      workplace.run(sweep({"--dry-run", "--algorithm", "ring,vendor", "--compressor", "none,int8"}));
  ASSERT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, ContainsRegex("\nsimulated +vgg16 +64 GPUs +ddp: ring +hkbu-10gbe\n"));
  EXPECT_THAT(outcome.out, HasSubstr("left out  vendor with int8 on "));
  EXPECT_THAT(outcome.out, ContainsRegex("[0-9]+ cases and [0-9]+ published points, about"));
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench.db"));
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench-report"));
}

TEST(DryRun, NamesTheHostsButNotThisMachineAlone) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  write_file(workplace / "nodes", "node01 8 all.q@node01 UNDEFINED\nnode02 8 all.q@node02 UNDEFINED\n");
  const std::vector<std::string> dry = {"sweep", "--dry-run", "--gpus", "1..2", "--evidence", "measured"};
  struct Row {
    std::vector<std::string> flags;
    std::map<std::string, std::string> job;
    std::string first_line;
  };
  for (const Row& row :
       {Row{{}, {{"PE_HOSTFILE", (workplace / "nodes").string()}}, "hosts: node01:8,node02:8 (Grid Engine's job)\n"},
        Row{{"-H", "a:2,b:2"}, {}, "hosts: -H a:2,b:2\n"}, Row{{}, {}, "measured "}}) {
    std::vector<std::string> words = dry;
    words.insert(words.end(), row.flags.begin(), row.flags.end());
    const Outcome outcome = workplace.run(words, row.job);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith(row.first_line));
  }
}

TEST(Export, HasARowOfCsvForEveryPoint) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep()).code, 0);
  const Outcome outcome = workplace.run({"export", "--format", "csv"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with("evidence,status,failure,workload,gpus,")) << outcome.out.substr(0, 100);
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), exported(workplace).size() + 1);
}

TEST(ReportVerb, WritesAFolderOrPrintsAFormat) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(sweep()).code, 0);
  const Outcome folder = workplace.run({"report", "--report", "again"});
  EXPECT_EQ(folder.code, 0) << folder.err;
  EXPECT_EQ(folder.out, "again/index.html\n");
  EXPECT_TRUE(std::filesystem::exists(workplace / "again/index.html"));
  const Outcome rows = workplace.run({"report", "--format", "csv"});
  EXPECT_EQ(rows.code, 0);
  EXPECT_THAT(rows.out, HasSubstr("hkbu-10gbe"));
  const Outcome brief = workplace.run({"report", "--format", "markdown"});
  EXPECT_EQ(brief.code, 0);
  EXPECT_THAT(brief.out, HasSubstr("10 GbE"));
  EXPECT_LT(brief.out.size(), 10'000U) << "the short form";
  EXPECT_GT(workplace.run({"report", "--format", "markdown", "--all"}).out.size(), brief.out.size());
}

TEST(FusionFlag, TakesTheUsualSettingsByOneWordBesideOthers) {
  const Workplace workplace;
  for (const auto& [fusions, cases] : {std::pair{"usual", "8 cases"}, {"usual,byteps", "9 cases"}}) {
    const Outcome outcome =
        workplace.run({"sweep", "--dry-run", "--fusion", fusions, "--gpus", "8", "--workload", "vgg16", "--profile",
                       "hkbu-10gbe", "--algorithm", "ring", "--compressor", "none", "--evidence", "simulated"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(cases), HasSubstr("threshold:4MiB"), HasSubstr("mg-wfbp")));
  }
}

TEST(List, PrintsAFamilyAsTextMarkdownAndJson) {
  const Workplace workplace;
  EXPECT_THAT(workplace.run({"list", "profiles"}).out, HasSubstr("hkbu-10gbe"));
  EXPECT_THAT(workplace.run({"list", "profiles", "--format", "markdown"}).out, HasSubstr("| hkbu-10gbe |"));
  const json rows = json::parse(workplace.run({"list", "profiles", "--json"}).out);
  EXPECT_THAT(rows, Contains(testing::ResultOf([](const json& row) { return row.at("profile"); }, "hkbu-10gbe")));
}

TEST(List, ExplainsWhatAutoTakesAndWhy) {
  const Workplace workplace;
  const Outcome outcome = workplace.run({"list", "algorithms", "--profile", "hkbu-10gbe", "--ranks", "64"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("64 workers on hkbu-10gbe"));
  EXPECT_THAT(outcome.out, HasSubstr("--algorithm auto takes "));
  EXPECT_THAT(outcome.out, HasSubstr("slower by"));
  const json rows = json::parse(workplace.run({"list", "algorithms", "--ranks", "32", "--json"}).out);
  EXPECT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0].at("size"), "1KiB");
  const Outcome other = workplace.run({"list", "profiles", "--ranks", "32"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("--profile and --ranks say nothing about profiles"));
}

TEST(FirstHelp, IsWhatAProgramWithoutArgumentsSays) {
  const Workplace workplace;
  const Outcome outcome = workplace.run({});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("hbench sweep --gpus 1..128"));
  EXPECT_EQ(outcome.out, workplace.run({"--help"}).out);
}

/// Flags of a quick measured sweep.
std::vector<std::string> measured(std::vector<std::string> more) {
  std::vector<std::string> arguments = words_in(
      "sweep --evidence measured --workload lenet5 --image-size 32 --batch 4 --launches 1 --warmup 1 --steps 4 --quiet "
      "--oversubscribe 3");
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CalibratedTimeline, IsRecordedAndCanBeSwept) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome recorded = workplace.run(
      {"calibrate", "--model", "lenet5", "--image-size", "32", "--batch", "4", "--steps", "3", "--out", "mine.toml"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("Wrote mine.toml"));
  const Outcome swept = workplace.run(
      words_in("sweep --gpus 1..16 --workload mine.toml --profile hkbu-10gbe --evidence simulated --json --quiet"));
  ASSERT_EQ(swept.code, 0) << swept.err;
  const json points = json::parse(swept.out);
  EXPECT_GT(points.size(), 5);
  for (const json& point : points) {
    EXPECT_EQ(point.at("workload"), "mine");
    EXPECT_GT(point.at("throughput"), 0);
  }
}

TEST(MeasuredSweep, TimesTheBaselineAndEveryStrategy) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(measured({"--gpus", "2", "--algorithm", "ring,ps,vendor", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json points = json::parse(outcome.out);
  ASSERT_EQ(points.size(), 4);
  EXPECT_EQ(points[0].at("algorithm"), "none");
  for (const json& point : points) {
    EXPECT_EQ(point.at("status"), "done");
    EXPECT_EQ(point.at("profile"), "local");
    EXPECT_GT(point.at("throughput"), 0);
    EXPECT_FALSE(point.at("efficiency").is_null());
  }
}

TEST(MeasuredSweep, RunsRanksAsThreadsAndInSharedMemoryAndInMixedPrecision) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  for (const std::string executor : {"threads", "shm"}) {
    if (executor == "shm" && !shm_availability().available) continue;  // its test in tests/collectives says so
    const Workplace workplace;
    const Outcome outcome = workplace.run(
        measured({"--gpus", "2", "--algorithm", "ring,ps", "--executor", executor, "--precision", "bf16", "--json"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json points = json::parse(outcome.out);
    ASSERT_EQ(points.size(), 3);
    EXPECT_TRUE(points[0].at("executor").is_null());
    for (const json& point : points) {
      EXPECT_EQ(point.at("status"), "done");
      EXPECT_EQ(point.at("precision"), "bf16");
      EXPECT_FALSE(point.at("efficiency").is_null()) << "the baseline is of the same precision";
      EXPECT_EQ(point.value("executor", json(nullptr)),
                point.at("algorithm") == "none" ? json(nullptr) : json(executor));
    }
    EXPECT_THAT(bytes_of(workplace / "hbench-report/index.html"), HasSubstr("ring, " + executor + ", bf16"));
  }
}

TEST(MeasuredSweep, OnAMachineWithoutAGpuSaysWhyAndWhatToDo) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  if (gpu_training_availability().available) GTEST_SKIP() << "models can be trained on a GPU here";
  const Workplace workplace;
  const Outcome outcome = workplace.run(measured({"--device", "gpu"}));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr(gpu_training_availability().reason));
  EXPECT_THAT(outcome.err, HasSubstr(gpu_training_availability().cure));
}

TEST(MeasuredSweep, WithoutMpirunFailsWhatNeedsItAndDoesTheRest) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const Outcome outcome = workplace.run(measured({"--gpus", "2", "--algorithm", "ring,ps", "--wide"}),
                                        {{"PATH", workplace.folder().path().string()}});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("mpirun is not on the PATH"));
  const json points = exported(workplace);
  ASSERT_EQ(points.size(), 3);
  EXPECT_EQ(points[0].at("algorithm"), "none");
  EXPECT_EQ(points[0].at("status"), "done");
  for (int i : {1, 2}) {
    EXPECT_EQ(points[i].at("status"), "failed");
    EXPECT_EQ(points[i].at("failure"),
              "cannot start ranks: mpirun is not on the PATH; install Open MPI (Debian: openmpi-bin)");
  }
}

TEST(MeasuredSweep, AfterAFailureDoesTheFailedCasesWithResumeAndIsGood) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  const Workplace workplace;
  const auto arguments = measured({"--gpus", "2", "--algorithm", "ring", "--resume"});
  EXPECT_EQ(workplace.run(arguments, {{"PATH", "/nowhere"}}).code, 3);
  EXPECT_EQ(workplace.run(arguments).code, 0);
  const json points = exported(workplace);
  ASSERT_EQ(points.size(), 2);
  for (const json& point : points) EXPECT_EQ(point.at("status"), "done");
}

}  // namespace
}  // namespace hbench::sweep_test
