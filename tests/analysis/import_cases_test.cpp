// Outputs that people have posted (names replaced), and what each is imported as.

#include <fmt/format.h>

#include "analysis/import/import.hpp"
#include "analysis/points/collectives.hpp"
#include "collectives/base/file.hpp"
#include "tests/analysis/import_examples.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::import_cases_test {
namespace {

std::string text_of(const std::string& file) {
  return read_file(HBENCH_SOURCE_DIR "/tests/bench/import_cases/" + file);
}

/// The runs of one file.
std::vector<ImportedOutput> runs_of(const std::string& file, const ImportHints& hints = {}) {
  std::vector<ImportedOutput> outputs;
  for (auto& run : read_files({{file, text_of(file)}}, {.machine = "", .hints = hints}))
    outputs.push_back(std::move(run.front().output));
  return outputs;
}

/// `8 x all-reduce sum on 16 ranks of 2 nodes`, of consecutive cases that are alike.
std::vector<std::string> cases_of(const ImportedOutput& output) {
  std::vector<std::string> names;
  std::vector<int> counts;
  for (const CaseResult& each : output.cases) {
    const Case& asked = each.asked;
    const std::string name =
        asked.is_benchmark()
            ? asked.benchmark
            : fmt::format("{} {} on {} ranks of {} nodes{}", asked.collective.name,
                          asked.collective.operation.empty() ? "-" : asked.collective.operation, asked.gpus,
                          asked.nodes, each.status == CaseStatus::failed ? " (failed)" : "");
    if (names.empty() || names.back() != name) {
      names.push_back(name);
      counts.push_back(0);
    }
    ++counts.back();
  }
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("{} x {}", counts[i], names[i]);
  return names;
}

/// A file that is read: its cases, and what is left out of it.
struct Read {
  const char* file;
  ImportHints hints;
  std::vector<std::string> cases;
  const char* left_out = nullptr;  ///< of the one sentence a part; null: nothing
};

std::vector<Read> files_to_read() {
  return {
      {"per-iteration-columns.txt", {}, {"8 x all-reduce sum on 2 ranks of 2 nodes"}},
      {"timestamp-column.txt", {}, {"8 x all-reduce sum on 2 ranks of 2 nodes"}},
      {"allreduce-2021-no-list.txt", {.ranks = 64, .nodes = 8}, {"2 x all-reduce sum on 64 ranks of 8 nodes"}},
      {"all-operations.txt",
       {.ranks = 16, .nodes = 2},
       {"4 x all-reduce max on 16 ranks of 2 nodes", "4 x all-reduce min on 16 ranks of 2 nodes"}},
      {"hash-signs-lost.txt", {}, {"5 x all-reduce sum on 8 ranks of 1 nodes"}},
      {"kubectl-logs-prefix.txt", {.collective = "all-gather"}, {"10 x all-gather - on 16 ranks of 2 nodes"}},
      {"skypilot-prefix.txt", {.collective = "all-gather"}, {"10 x all-gather - on 16 ranks of 2 nodes"}},
      {"mpirun-timestamp-output.txt", {}, {"7 x all-reduce sum on 40 ranks of 5 nodes"}},
      {"pals-label.txt", {.ranks = 16, .nodes = 4}, {"4 x all-reduce sum on 16 ranks of 4 nodes"}},
      {"rank-label-inside-rows.txt", {.ranks = 24, .nodes = 3}, {"10 x all-reduce sum on 24 ranks of 3 nodes"}},
      {"rows-split-by-nccl-debug.txt",
       {},
       {"5 x all-reduce sum on 8 ranks of 1 nodes"},
       "lines 16, 20: broken by NCCL's messages: measure with NCCL_DEBUG_FILE"},
      {"killed-in-the-middle-of-a-row.txt", {}, {"7 x all-reduce sum on 2 ranks of 2 nodes"}, "line 19: it is cut off"},
      {"several-tests-in-one-file.txt",
       {},
       {"3 x broadcast - on 2 ranks of 2 nodes", "2 x reduce-scatter sum on 2 ranks of 2 nodes"}},
      {"sendrecv-2-ranks.txt", {.collective = "all-reduce"}, {"6 x all-reduce sum on 2 ranks of 2 nodes"}},
      {"rccl-tests-json-lines.json", {}, {"2 x all-reduce sum on 4 ranks of 0 nodes"}},
      {"osu-several-tests-one-file.txt",
       {.ranks = 16, .nodes = 2},
       {"6 x all-reduce sum on 16 ranks of 2 nodes"},
       "line 3: hbench has no collective of 'OSU MPI Latency Test v5.8'"},
      {"imb-allreduce.txt", {}, {"5 x all-reduce sum on 144 ranks of 0 nodes"}, "1 row of 0 bytes"},
      {"gbench-counter-nan.json", {}, {"1 x internal_threading_test BM_MainThread/iterations:1/threads:1"}},
      {"gbench-text-before-json.json", {}, {"1 x internal_threading_test BM_MainThread/iterations:1/threads:1"}},
      {"gbench-zero-time.json",
       {},
       {"1 x internal_threading_test BM_MainThread/iterations:1/threads:1"},
       "BM_Counters_Threads/threads:2: its time is 0"},
      {"nccl_good.txt", {}, {"8 x all-reduce sum on 4 ranks of 2 nodes"}},
  };
}

TEST(ImportCases, AreReadAsWhatTheyAre) {
  for (const Read& each : files_to_read()) {
    SCOPED_TRACE(each.file);
    const std::vector<ImportedOutput> runs = runs_of(each.file, each.hints);
    ASSERT_THAT(runs, SizeIs(1));
    EXPECT_EQ(cases_of(runs[0]), each.cases);
    if (each.left_out == nullptr)
      EXPECT_THAT(runs[0].left_out, IsEmpty());
    else
      EXPECT_THAT(runs[0].left_out, ElementsAre(HasSubstr(each.left_out)));
  }
}

/// A file that is refused, and why.
struct Refused {
  const char* file;
  ImportHints hints;
  const char* why;
  const char* cure;
};

TEST(ImportCases, AreRefusedWhereTheyWouldBeGuessedAt) {
  const std::vector<Refused> all{
      {"sendrecv-2-ranks.txt", {}, "its columns are those of sendrecv, of which hbench has no", "it has all-reduce"},
      {"alltoall-8-ranks.txt", {}, "its columns are those of alltoall, alltoallv, of which", "it has all-reduce"},
      {"alltoall-2021-11-columns.txt",
       {.ranks = 64, .nodes = 8},
       "its columns are those of alltoall",
       "it has all-reduce"},
      {"reduce-2-ranks.txt", {}, "its columns are those of reduce, of which", "it has all-reduce"},
      {"reduce-2-ranks.txt",
       {.collective = "all-reduce"},
       "not those of all_reduce: operation, root or count",
       "leave it out"},
      {"allreduce-2021-no-list.txt", {}, "does not say on how many GPUs", "--ranks 16 --nodes 2"},
      {"one-gpu-5090.txt", {}, "it ran on one GPU: nothing is exchanged", "two GPUs"},
      {"one-gpu-5090.txt", {.ranks = 8}, "it ran on one GPU: nothing is exchanged", "two GPUs"},
      {"built-without-mpi.txt", {}, "2 processes, each alone with rank 0", "MPI=1"},
      {"kubectl-logs-prefix.txt", {}, "its columns are those of all_gather, alltoall, alltoallv", "--collective"},
      {"kubectl-logs-prefix.txt",
       {.collective = "all-gather", .ranks = 8},
       "it says that it ran on 16 ranks, and 8 are given",
       "--ranks"},
      {"kubectl-logs-prefix.txt",
       {.collective = "all-gather", .nodes = 4},
       "it says that it ran on 2 nodes, and 4 are given",
       "--nodes"},
      {"kubectl-logs-prefix.txt", {.collective = "all-reduce"}, "not those of all_reduce", "--collective"},
      {"nccl_good.txt",
       {.collective = "all-gather"},
       "it is of all-reduce, and --collective says all-gather",
       "leave out"},
      {"allreduce-2021-no-list.txt",
       {.ranks = 8, .nodes = 1},
       "which no collective of 8 ranks",
       "ranks and nodes right"},
      {"nccl_columns_swapped.txt", {}, "nccl_columns_swapped.txt:13: its column 'algbw' is in 'us'", "GB/s"},
      {"nccl_time_not_algbw.txt", {}, "nccl_time_not_algbw.txt:14: 1024 B in 21020 us are", "algbw is size / time"},
      {"osu-bw-5.6.txt", {}, "no collective of 'OSU MPI Bi-Directional Bandwidth Test v5.6.2'", "osu_allreduce"},
      {"tf-cnn-benchmarks.log", {}, "on which machine", "--machine NAME"},
      {"horovod-timeline.json", {}, "this is a Horovod timeline", "hbench import-job"},
      {"kineto-trace.json", {}, "this is a torch.profiler trace (Kineto)", "hbench import-job"},
  };
  for (const Refused& each : all) {
    SCOPED_TRACE(each.file);
    expect_error([&] { runs_of(each.file, each.hints); }, ExitCode::usage, HasSubstr(each.why), HasSubstr(each.cure));
  }
}

TEST(ImportCases, HaveTheTimesOfTheirColumns) {
  for (const char* file : {"per-iteration-columns.txt", "timestamp-column.txt", "gh200-2-nodes.txt"}) {
    const CaseResult first = runs_of(file).at(0).cases.at(0);
    EXPECT_THAT(values(first, metric::kOutOfPlace), ElementsAre(DoubleEq(339.61e-6))) << file;
    EXPECT_THAT(values(first, metric::kInPlace), ElementsAre(DoubleEq(335.85e-6))) << file;
  }
  const CaseResult labelled = runs_of("rank-label-inside-rows.txt", {.ranks = 24, .nodes = 3}).at(0).cases.at(6);
  EXPECT_THAT(values(labelled, metric::kOutOfPlace), ElementsAre(DoubleEq(24410e-6)));
  EXPECT_THAT(values(runs_of("imb-allreduce.txt").at(0).cases.at(0), metric::kOutOfPlace),
              ElementsAre(DoubleEq(11.69e-6)));
}

TEST(ImportCases, WithTheSameTestTwiceAreTwoRuns) {
  const std::vector<ImportedOutput> runs = runs_of("two-sessions-gb10.txt");
  ASSERT_THAT(runs, SizeIs(2));
  for (const ImportedOutput& run : runs)
    EXPECT_THAT(cases_of(run), ElementsAre("3 x all-gather - on 2 ranks of 2 nodes"));
  EXPECT_EQ(runs[0].environment, runs[1].environment);
  EXPECT_THAT(values(runs[0].cases.at(0), metric::kInPlace), ElementsAre(DoubleEq(25806.7e-6)));
  EXPECT_THAT(values(runs[1].cases.at(0), metric::kInPlace), ElementsAre(DoubleEq(190310e-6)));
}

TEST(ImportCases, OfATrainingBenchmarkHaveItsModelBatchAndRate) {
  const auto runs = read_files({{"a.log", text_of("tf-cnn-benchmarks.log")}}, {.machine = "lab"});
  const CaseResult& only = runs.at(0).at(0).output.cases.at(0);
  EXPECT_EQ(only.asked.benchmark, "tf_cnn_benchmarks resnet50 batch 128 on 4 devices");
  EXPECT_EQ(only.asked.gpus, 4);
  EXPECT_EQ(only.samples.at(0).value, 776.8);
  EXPECT_EQ(only.samples.at(0).unit, "images/s");
}

}  // namespace
}  // namespace hbench::import_cases_test
