#include <fmt/format.h>

#include <map>

#include "analysis/import/format.hpp"
#include "analysis/import/import.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/text.hpp"
#include "tests/analysis/import_examples.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"

namespace hbench::import_formats_test {
namespace {

ImportedOutput imported(const std::string& text, const std::string& file = "a.txt", const ImportHints& hints = {}) {
  return recognise(text, file).parse(text, file, hints);
}

/// The first `from` in `text` as `to`.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(ImportFormats, AreRecognisedByWhatTheyHold) {
  for (const auto& [format, text] : import_examples()) EXPECT_EQ(recognise(text, "a.txt").name, format);
  expect_error([] { recognise("hello\n", "a.txt"); }, ExitCode::usage, HasSubstr("a.txt: nothing known"),
               HasSubstr("hbench list imports"));
  expect_error([] { recognise(" \n", "a.txt"); }, ExitCode::usage, HasSubstr("a.txt: it is empty"));
  for (const char* utf16 : {"\xff\xfe{", "\xfe\xff{"})
    expect_error([&] { recognise(utf16, "a.txt"); }, ExitCode::usage,
                 "a.txt: it is text in UTF-16, as PowerShell's > writes it",
                 "make it UTF-8: iconv -f utf-16 -t utf-8 -o 1.txt a.txt");
  expect_error([] { recognise("\xff\xfe{", "a;$(b).txt"); }, ExitCode::usage, HasSubstr("UTF-16"),
               "make it UTF-8: iconv -f utf-16 -t utf-8 -o 1.txt 'a;$(b).txt'");
  expect_error([] { find_import_format("nccl-test"); }, ExitCode::usage, HasSubstr("no import format 'nccl-test'"));
}

TEST(ImportFormats, MayHaveUnitsBehindNamesAndCommasBetweenColumns) {
  const ImportHints hints{.collective = "all-reduce", .ranks = 8, .nodes = 1};
  for (const char* text :
       {"size (B)  type  redop  time (ms)  busbw (GB/s)\n1048576 float sum 0.0412 44.5\n",
        "size (B),type,redop,time (ms),busbw (GB/s)\n1048576,float,sum,0.0412,44.5\n",
        "| size (B) | type | redop | busbw (GB/s) |\n|---|---|---|---|\n| 1048576 | float | sum | 44.5 |\n"}) {
    const ImportedOutput output = imported(text, "a.txt", hints);
    ASSERT_EQ(output.cases.size(), 1U) << text;
    EXPECT_EQ(output.cases[0].asked.collective.bytes, 1048576) << text;
    EXPECT_NEAR(output.cases[0].samples.at(0).value, 41.2e-6, 1e-7) << text;
  }
}

TEST(ImportFormats, RefuseUnitsBehindNamesThatTheyDoNotKnow) {
  for (const auto& [names, why] : {std::pair{"size (B) type redop busbw (Gb/s)", "its column 'busbw' is in 'Gb/s'"},
                                   {"size (KB) type redop busbw (GB/s)", "its column 'size' is in 'KB'"},
                                   {"size (B) type redop time (GB/s) busbw", "its column 'time' is in 'GB/s'"}})
    expect_error([&] { imported(fmt::format("{}\n1048576 float sum 44.5 44.5\n", names)); }, ExitCode::usage,
                 fmt::format("a.txt:1: {}", why));
}

TEST(ImportFormats, AreNotNestedDeep) {
  const std::string nest = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& text : {google_benchmark_example(), nvbench_example(), nccl_tests_json_example(),
                                  hbench_collective_example(), std::string("{\"step_ms\": 12.5}")})
    expect_error([&] { imported(replaced(text, "{", fmt::format(R"({{"deep": {}, )", nest))); }, ExitCode::usage,
                 "a.txt: its JSON cannot be read: it is nested more than 64 deep");
}

TEST(NcclTestsFormat, GivesACollectiveForEachSizeInPlaceAndOutOfPlace) {
  const ImportedOutput output = imported(nccl_tests_example());
  ASSERT_THAT(output.cases, SizeIs(2));
  const CaseResult& first = output.cases.front();
  EXPECT_EQ(first.asked.question(),
            "gpus=4;nodes=2;algorithm=vendor;compressor=none;overlap=yes;collective=all-reduce;bytes=1024;type=float32;"
            "redop=sum;executor=nccl-tests;device=gpu");
  EXPECT_THAT(values(first, "out_of_place_seconds"), ElementsAre(DoubleEq(22.5e-6)));
  EXPECT_THAT(values(first, "in_place_seconds"), ElementsAre(DoubleEq(20.25e-6)));
  EXPECT_EQ(values(first, "out_of_place_wrong"), std::vector{0.0});
  EXPECT_THAT(values(first, "in_place_wrong"), IsEmpty()) << "N/A: nobody looked";
  EXPECT_EQ(output.environment,
            (std::map<std::string, std::string>{{"gpu", "NVIDIA H100 80GB HBM3"}, {"nccl", "2.28.7"}}));
  EXPECT_THAT(output.left_out, IsEmpty());
  EXPECT_EQ(tracked_metric(first).name, "in_place_seconds");
}

TEST(NcclTestsFormat, NeedsTheRanksWhereItsListOfDevicesHasGapsOrGroups) {
  for (const std::string& text :
       {replaced(nccl_tests_example(), "Rank  3", "Rank  7"), replaced(nccl_tests_example(), "Group  0", "Group  1")}) {
    expect_error([&] { imported(text); }, ExitCode::usage,
                 "a.txt: it does not say on how many GPUs of how many nodes it ran",
                 "add such as --ranks 16 --nodes 2");
    EXPECT_EQ(imported(text, "a.txt", {.ranks = 4}).cases[0].asked.gpus, 4);
  }
}

TEST(NcclTestsFormat, MakesAFailureOfWrongElementsAndTimesNone) {
  const ImportedOutput output = imported(nccl_tests_example("12"));
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[1].status, CaseStatus::failed);
  EXPECT_EQ(output.cases[1].exit_code, 4);
  EXPECT_EQ(output.cases[1].failure, "a.txt:12: 12 elements were wrong");
  EXPECT_THAT(output.cases[1].samples, IsEmpty());
  EXPECT_EQ(output.cases[0].status, CaseStatus::done);
}

TEST(NcclTestsFormat, RefusesTimesOfTheCpuAndTextsWithoutRows) {
  std::string cpu = nccl_tests_example();
  cpu.replace(cpu.find(" time "), 6, " cputime ");
  expect_error([&] { imported(cpu); }, ExitCode::usage, "a.txt:10: its times are those of the CPU's calls");
  expect_error([] { imported("# nThread 1 nGpus 1\n"); }, ExitCode::usage, "a.txt: it has no rows");
}

TEST(NcclTestsFormat, IsReadOfItsRowsAlone) {
  std::string rows;
  const std::string example = nccl_tests_example();
  for (const std::string_view line : lines_of(example))
    if (!line.starts_with('#')) rows += fmt::format("{}\n", line);
  const ImportedOutput output = imported(rows, "a.txt", {"all-reduce", 4, 1});
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[0].asked.gpus, 4);
  EXPECT_THAT(values(output.cases[0], "out_of_place_seconds"), ElementsAre(DoubleEq(22.5e-6)));
  expect_error([&] { imported(rows); }, ExitCode::usage,
               "a.txt: it does not say on how many GPUs of how many nodes it ran", "add such as --ranks 16 --nodes 2");
}

TEST(NcclTestsFormat, SaysThatATestFailed) {
  const std::string died = "node-a: Test NCCL failure common.cu:958 'unhandled system error'\n",
                    why = "the test failed: Test NCCL failure common.cu:958 'unhandled system error'";
  const std::string example = nccl_tests_example();
  expect_error([&] { imported(example.substr(0, example.find("        1024 ")) + died); }, ExitCode::usage,
               "a.txt: " + why, HasSubstr("NCCL_DEBUG=INFO"));
  EXPECT_THAT(imported(example.substr(0, example.find("        2048 ")) + died).left_out, ElementsAre(why));
}

TEST(NcclTestsFormat, RefusesTheTablesOfSeveralMachines) {
  const auto lines_of_nodes = [](const std::vector<std::string>& prefixes) {
    const std::string example = nccl_tests_example();
    std::string text;
    for (const std::string_view line : lines_of(example))
      for (const std::string& prefix : prefixes) text += fmt::format("{}{}\n", prefix, line);
    return text;
  };
  for (const auto& [prefixes, names] :
       std::map<std::vector<std::string>, std::string>{{{"node1: ", "node2: "}, "node1: node2:"},
                                                       {{"test-1  | ", "test-2  | "}, "test-1  | test-2  |"},
                                                       {{"[pod/a-0/x] ", "[pod/a-1/x] "}, "[pod/a-0/x] [pod/a-1/x]"}})
    expect_error([&] { imported(lines_of_nodes(prefixes)); }, ExitCode::usage,
                 "a.txt: its tables are of several machines: " + names,
                 HasSubstr("give each a file: grep -F '" + names.substr(0, 5)));
  for (const char* prefix : {"node1: ", "[1,0]<stdout>:", "0: "})
    EXPECT_THAT(imported(lines_of_nodes({prefix})).cases, SizeIs(2)) << prefix;
}

TEST(NcclTestsJson, GivesTheIterationsWhereItHasThemAndTheRanksOfAllProcesses) {
  const ImportedOutput output = imported(nccl_tests_json_example(), "a.json");
  ASSERT_THAT(output.cases, SizeIs(1));
  EXPECT_EQ(output.cases[0].asked.question(),
            "gpus=4;nodes=2;algorithm=vendor;compressor=none;overlap=yes;collective=all-gather;bytes=4096;type=float16;"
            "executor=nccl-tests;device=gpu");
  EXPECT_THAT(values(output.cases[0], "out_of_place_seconds"),
              ElementsAre(DoubleEq(12e-6), DoubleEq(12.5e-6), DoubleEq(13e-6)));
  EXPECT_THAT(values(output.cases[0], "in_place_seconds"), ElementsAre(DoubleEq(11e-6)));
  EXPECT_EQ(output.started_at, "2026-11-20T08:30:00Z");
  EXPECT_EQ(output.environment.at("gpu"), "NVIDIA L4");
  const ImportedOutput wrong = imported(nccl_tests_json_example("3.000000"), "a.json");
  EXPECT_EQ(wrong.cases.at(0).failure, "a.json: results[0]: 3 elements were wrong");
}

TEST(NcclTestsJson, RefusesTimesThatAreNone) {
  expect_error([] { imported(replaced(nccl_tests_json_example(), "12.500000", "\"nan\""), "a.json"); }, ExitCode::usage,
               "a.json: none of its rows can be read (results[0].out_of_place: its time is \"nan\")");
  expect_error([] { imported(replaced(nccl_tests_json_example(), "11.000000", "-11"), "a.json"); }, ExitCode::usage,
               "a.json: none of its rows can be read (results[0].in_place: its time is -11)");
}

TEST(Osu, GivesTheAverageLatencyWithAndWithoutTheFullTable) {
  for (const bool full : {false, true}) {
    const ImportedOutput output = imported(osu_example(full));
    ASSERT_THAT(output.cases, SizeIs(2));
    EXPECT_EQ(output.cases[0].asked.question(),
              "algorithm=vendor;compressor=none;overlap=yes;collective=all-reduce;bytes=1024;type=float32;redop=sum;"
              "executor=osu;device=gpu");
    EXPECT_THAT(values(output.cases[0], "out_of_place_seconds"), ElementsAre(DoubleEq(21.5e-6)));
    EXPECT_EQ(tracked_metric(output.cases[0]).name, "out_of_place_seconds");
    EXPECT_THAT(output.environment, IsEmpty()) << "it says nothing of the machine";
  }
}

TEST(Osu, KnowsItsCollectivesAndLibraries) {
  const auto first = [](const std::string& test, const std::string& library) {
    return imported(osu_example(false, test, library)).cases.at(0);
  };
  EXPECT_EQ(first("Broadcast", "MPI").asked.collective.name, "broadcast");
  EXPECT_THAT(values(first("Broadcast", "MPI"), "in_place_seconds"), SizeIs(1));
  EXPECT_FALSE(first("Broadcast", "MPI").asked.training.on_gpu());
  EXPECT_EQ(first("Reduce_scatter", "MPI-ROCM").asked.collective.name, "reduce-scatter");
  EXPECT_EQ(first("Allreduce", "NCCL-CUDA").asked.collective.executor, "osu-nccl");
  EXPECT_EQ(imported(osu_example(false, "Allgather"), "a.txt", {.ranks = 4}).cases[0].asked.collective.bytes, 4096);
  expect_error([&] { first("Alltoall", "MPI"); }, ExitCode::usage,
               "a.txt: line 2: hbench has no collective of 'OSU MPI Alltoall Latency Test v7.5'",
               "osu_allreduce, osu_reduce_scatter, osu_allgather or osu_bcast can be imported");
  expect_error([&] { first("Non-blocking Allreduce", "MPI"); }, ExitCode::usage,
               "a.txt: line 2: hbench has no collective of 'OSU MPI Non-blocking Allreduce Latency Test v7.5'");
}

TEST(Osu, RefusesWhatIsNoTimeWithItsLineAndFailsWhatWasNotValid) {
  const auto refused = [](const std::string& text, const std::string& what) {
    expect_error([&] { imported(text); }, ExitCode::usage, what);
  };
  for (const char* none : {"-1", "nan", "0", "x"}) {
    const ImportedOutput output = imported(replaced(osu_example(true), "22.50", none));
    EXPECT_THAT(output.cases, SizeIs(1));
    EXPECT_THAT(output.left_out, ElementsAre(fmt::format("line 6: its time is '{}'", none)));
  }
  EXPECT_THAT(imported(osu_example(true) + osu_example(true)).later, SizeIs(1)) << "the same again is another run";
  EXPECT_THAT(imported(osu_example(true) + osu_example(true, "Allgather")).cases, SizeIs(4));
  refused(replaced(osu_example(false), "Avg Latency(us)", "Bandwidth (MB/s)"),
          "a.txt:4: it has no column 'Avg Latency (us)'");
  refused("# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n",
          "a.txt: it has no rows: did the test end before its table?");
  EXPECT_DOUBLE_EQ(
      imported(replaced(osu_example(false), "Avg Latency(us)", "Avg Latency(ms)")).cases[0].samples[0].value, 0.0215);
  const std::string validated =
      "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)        Validation\n4 2.5 Pass\n8 2.5 Fail\n";
  const ImportedOutput output = imported(validated);
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[0].status, CaseStatus::done);
  EXPECT_EQ(output.cases[1].failure, "a.txt:4: its validation failed");
}

TEST(GoogleBenchmark, GivesTheRealTimeOfEachRepetitionAndNoAggregate) {
  const ImportedOutput output = imported(google_benchmark_example(), "a.json");
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.program, "sort_benchmark");
  EXPECT_EQ(output.cases[0].asked.question(), "gpus=1;benchmark=BM_Sort/64");
  EXPECT_THAT(values(output.cases[0], "seconds"), ElementsAre(DoubleEq(1.5e-3), DoubleEq(1.7e-3)));
  EXPECT_EQ(output.cases[0].samples[1].iteration, 1);
  EXPECT_EQ(output.started_at, "2026-11-20T08:30:00Z");
  EXPECT_EQ(output.environment, (std::map<std::string, std::string>{{"cores", "8"}, {"cpu_caches", "32KiB, 1MiB"}}));
  EXPECT_EQ(output.cases[1].failure, "BM_Broken: no such file");
  EXPECT_EQ(output.cases[1].exit_code, 4);
}

TEST(GoogleBenchmark, RefusesWhatItCannotTrackWithItsPlace) {
  const auto refused = [](const std::string& text, const std::string& what) {
    expect_error([&] { imported(text, "a.json"); }, ExitCode::usage, what);
  };
  refused(google_benchmark_example("-2"), "a.json: benchmarks[0].real_time (-2) is not above 0");
  refused(google_benchmark_example("1.5e"), "a.json:28: this is no JSON");
  refused(replaced(google_benchmark_example(), "\"us\"", "\"furlongs\""),
          "a.json: benchmarks[0].time_unit (\"furlongs\") is no unit of time");
  refused(google_benchmark_example().substr(0, 800), "a.json:27: its JSON is cut off here");
  std::string aggregates = google_benchmark_example();
  for (const char* type : {"\"iteration\"", "\"iteration\"", "\"iteration\""})
    aggregates = replaced(aggregates, type, "\"aggregate\"");
  refused(aggregates, "a.json: benchmarks has only aggregates");
}

TEST(GoogleBenchmark, TakesTheMedianWhereThereAreOnlyAggregates) {
  const auto aggregate = [](const std::string& name, const std::string& of, double time) {
    return fmt::format(R"({{"name": "{0}_{1}", "run_name": "{0}", "run_type": "aggregate", "aggregate_name": "{1}",)"
                       R"( "real_time": {2}, "time_unit": "ms"}},)",
                       name, of, time);
  };
  const std::string text =
      replaced(google_benchmark_example(), "\"benchmarks\": [",
               "\"benchmarks\": [" + aggregate("BM_A", "mean", 4) + aggregate("BM_A", "median", 3) +
                   aggregate("BM_Sort/64", "median", 9) + aggregate("BM_C", "mean", 5));
  const ImportedOutput output = imported(text);
  ASSERT_THAT(output.cases, SizeIs(3));
  EXPECT_THAT(values(output.cases[0], "seconds"), ElementsAre(DoubleEq(1.5e-3), DoubleEq(1.7e-3)));
  EXPECT_EQ(output.cases[2].asked.benchmark, "BM_A");
  EXPECT_THAT(values(output.cases[2], "seconds"), ElementsAre(DoubleEq(3e-3)));
  EXPECT_THAT(output.left_out, ElementsAre("BM_C: it has only aggregates, and no median"));
  const std::string old = R"({"context": {"num_cpus": 2}, "benchmarks": [
      {"name": "BM_A_mean", "real_time": 3}, {"name": "BM_A_median", "real_time": 2}]})";
  EXPECT_THAT(values(imported(old).cases.at(0), "seconds"), ElementsAre(DoubleEq(2e-9)));
}

// Python's json module and Google Benchmark itself write and read them.
TEST(GoogleBenchmark, LeavesOutTimesThatAreNoneAndReadsNoCounters) {
  for (const char* none : {"NaN", "-Infinity", "0.0"}) {
    const ImportedOutput output = imported(google_benchmark_example(none), "a.json");
    EXPECT_THAT(values(output.cases.at(0), "seconds"), ElementsAre(DoubleEq(1.7e-3)));
    EXPECT_THAT(output.left_out, ElementsAre(HasSubstr("BM_Sort/64: its time is ")));
  }
  const std::string counters = replaced(google_benchmark_example(), "\"cpu_time\"", "\"hits\": NaN, \"cpu_time\"");
  EXPECT_THAT(imported(counters, "a.json").cases, SizeIs(2));
}

TEST(GoogleBenchmark, IsFoundInALog) {
  const std::string log =
      "Running ./a\nRun on (8 X 4000 MHz)\n***WARNING*** {x}\n" + google_benchmark_example() + "done\n";
  EXPECT_THAT(imported(log, "a.json").cases, SizeIs(2));
  expect_error([&] { imported(replaced(log, "\"real_time\": 1.5", "\"real_time\": x1.5"), "a.json"); }, ExitCode::usage,
               "a.json:31: this is no JSON");
}

TEST(GoogleBenchmark, RefusesASecondDocument) {
  expect_error([] { imported(google_benchmark_example() + google_benchmark_example(), "a.json"); }, ExitCode::usage,
               "a.json:73: a second JSON document begins", "give each a file of its own: a file is one launch");
}

TEST(GoogleBenchmark, RefusesNamesThatStandTwiceInOneObject) {
  expect_error([] { imported(replaced(google_benchmark_example(), "\"iterations\"", "\"threads\""), "a.json"); },
               ExitCode::usage, "a.json:27: its JSON has 'threads' twice in one object",
               "which of the two counts nobody knows: leave one out");
}

TEST(GoogleBenchmark, OfOldVersionsHasAggregatesByName) {
  const std::string old =
      R"({"context": {"date": "2018-01-02 10:00:00", "executable": "b", "num_cpus": 2, "library_build_type": "debug"},
          "benchmarks": [{"name": "BM_A", "real_time": 3, "time_unit": "ms"},
                         {"name": "BM_A_mean", "real_time": 3, "time_unit": "ms"}]})";
  const ImportedOutput output = imported(old);
  ASSERT_THAT(output.cases, SizeIs(1));
  EXPECT_THAT(values(output.cases[0], "seconds"), ElementsAre(DoubleEq(3e-3)));
  EXPECT_EQ(output.environment.at("settings"), "library_build_type=debug");
}

TEST(Nvbench, GivesTheColdTimeOfEachStateThatWasRun) {
  const ImportedOutput output = imported(nvbench_example(), "a.json");
  ASSERT_THAT(output.cases, SizeIs(1));
  EXPECT_EQ(output.program, "copy_bench");
  EXPECT_EQ(output.cases[0].asked.question(), "gpus=1;device=gpu;benchmark=copy Elements=1048576");
  EXPECT_THAT(values(output.cases[0], "seconds"), ElementsAre(DoubleEq(1.25e-6)));
  EXPECT_EQ(output.environment, (std::map<std::string, std::string>{{"gpu", "NVIDIA L4"}}));
  EXPECT_THAT(output.left_out, ElementsAre("copy Elements=1073741824: skipped: too large"));
}

TEST(Nvbench, RefusesTimesThatAreNone) {
  for (const char* time : {"nan", "-1", "0", "soon"})
    expect_error([&] { imported(nvbench_example(time), "a.json"); }, ExitCode::usage,
                 HasSubstr("a.json: benchmarks[0].states[0].summaries[2].data[0].value"));
  std::string none = nvbench_example();
  for (const char* tag : {"nv/cold/time/gpu/mean", "nv/batch/time/gpu/mean"}) none = replaced(none, tag, "other");
  expect_error([&] { imported(none, "a.json"); }, ExitCode::usage, "a.json: benchmarks has no state that was timed");
}

TEST(HbenchCollective, GivesWhatTheDatabaseWouldHold) {
  const ImportedOutput output = imported(hbench_collective_example(), "a.json");
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[0].asked.question(),
            "gpus=2;nodes=1;algorithm=ring;compressor=none;overlap=yes;collective=all-reduce;bytes=1024;type=float32;"
            "redop=sum;executor=shm");
  EXPECT_THAT(values(output.cases[0], "in_place_seconds"), SizeIs(5));
  EXPECT_TRUE(output.cases[0].samples[0].warmup);
  EXPECT_EQ(output.started_at, "2026-11-20T08:30:00Z");
  EXPECT_EQ(output.environment.at("cpu"), "some CPU");
  const ImportedOutput wrong = imported(hbench_collective_example("7"), "a.json");
  EXPECT_EQ(wrong.cases[1].status, CaseStatus::failed);
  EXPECT_EQ(wrong.cases[1].exit_code, 4);
}

TEST(RcclTests, GiveBothWaysOfEachSizeAsLinesArrayAndCsv) {
  const std::string lines = rccl_tests_example();
  std::string array = lines;
  for (std::size_t at = array.find("}\n{"); at != array.npos; at = array.find("}\n{")) array.replace(at, 2, "},");
  const std::string csv =
      "numCycle,name,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inPlace,time,algBw,busBw,#wrong\n"
      "0,AllReduce,1,4,4,1,1024,float,sum,0,20.5,0.049951,0.074927,0\n"
      "0,AllReduce,1,4,4,1,1024,float,sum,1,19.5,0.052513,0.078769,0\n";
  for (const std::string& text : {lines, "[" + array + "]", csv}) {
    const ImportedOutput output = imported(text);
    ASSERT_FALSE(output.cases.empty());
    EXPECT_EQ(output.cases[0].asked.gpus, 4);
    EXPECT_EQ(output.cases[0].asked.collective.name, "all-reduce");
    EXPECT_THAT(values(output.cases[0], "out_of_place_seconds"), ElementsAre(DoubleEq(20.5e-6)));
    EXPECT_THAT(values(output.cases[0], "in_place_seconds"), ElementsAre(DoubleEq(19.5e-6)));
  }
  EXPECT_THAT(imported(lines + lines).later, SizeIs(1)) << "a file to which a second run was added";
  EXPECT_THAT(imported(replaced(lines, "AllReduce", "AlltoAll")).left_out,
              ElementsAre("AlltoAll: hbench has no collective of AlltoAll"));
  expect_error([&] { imported(replaced(lines, "\"time\":20.5", "\"time\":0.0205")); }, ExitCode::usage,
               "a.txt:1: 1024 B in 0.0205 us are 49.95 GB/s, and its algbw is 0.04995");
}

TEST(Imb, GivesTheAverageOfEachSizeAndNamesWhatItLeavesOut) {
  const ImportedOutput output = imported(imb_example());
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(
      output.cases[0].asked.question(),
      "gpus=4;algorithm=vendor;compressor=none;overlap=yes;collective=all-reduce;bytes=1024;type=float32;redop=sum;"
      "executor=imb");
  EXPECT_THAT(values(output.cases[0], "out_of_place_seconds"), ElementsAre(DoubleEq(11.5e-6)));
  EXPECT_THAT(output.left_out, ElementsAre("line 4: hbench has no collective of IMB's PingPong", "1 row of 0 bytes"));
}

TEST(Imb, TakesNoNumberOfARemarkForATimeAndFailsWhatHasDefects) {
  const ImportedOutput output = imported(
      "# Benchmarking Bcast\n# #processes = 4\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects\n"
      "            4         1000         4.25         4.46         4.35         0.00\n"
      "            8         1000         4.25         4.46         4.35         1.00\n"
      "           16 out-of-mem.; needed X=   1.004 GB; use flag \"-mem X\" or MAX_MEM_USAGE>=X (IMB_mem_info.h)\n"
      "           32 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use \"-time X\"\n");
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_THAT(values(output.cases[0], "in_place_seconds"), ElementsAre(DoubleEq(4.35e-6)));
  EXPECT_EQ(output.cases[1].failure, "a.txt:5: its validation failed");
  EXPECT_THAT(output.left_out, ElementsAre("line 6: its time is 'out-of-mem'", "line 7: its time is 'time-out'"));
}

TEST(Imb, ReadsWhatOneCclPrints) {
  const ImportedOutput output = imported(
      "options:\n  processes:      2\n  datatypes:      float16\n  reductions:     max\n\n"
      "# Benchmarking: reduce_scatter\n# #processes: 2\n\n"
      "        #bytes  #repetitions    t_min[usec]    t_max[usec]    t_avg[usec]      stddev[%]\n"
      "          1024            16          22.51          23.38          22.95           2.67\n\n# All done\n");
  ASSERT_THAT(output.cases, SizeIs(1));
  EXPECT_EQ(output.cases[0].asked.question(),
            "gpus=2;algorithm=vendor;compressor=none;overlap=yes;collective=reduce-scatter;bytes=1024;type=float16;"
            "redop=max;executor=oneccl");
  EXPECT_THAT(values(output.cases[0], "out_of_place_seconds"), ElementsAre(DoubleEq(22.95e-6)));
}

TEST(TfCnnBenchmarks, AreThoseOfHorovodToo) {
  const std::string text =
      "[1,0]<stdout>:Model: resnet50\n[1,0]<stdout>:Batch size: 32\n[1,0]<stdout>:Number of GPUs: 4\n"
      "[1,0]<stdout>:Iter #0: 108.3 img/sec per GPU\n[1,0]<stdout>:Img/sec per GPU: 108.2 +-1.2\n"
      "[1,0]<stdout>:Total img/sec on 4 GPU(s): 432.8 +-4.9\n";
  const ImportedOutput output = imported(text);
  EXPECT_EQ(output.program, "synthetic_benchmark");
  ASSERT_THAT(output.cases, SizeIs(1));
  EXPECT_EQ(output.cases[0].asked.benchmark, "resnet50 batch 32 on 4 devices");
  EXPECT_EQ(output.cases[0].asked.gpus, 4);
  EXPECT_THAT(values(output.cases[0], "rate"), ElementsAre(432.8));
  expect_error([&] { imported(replaced(text, ": 432.8", ": nan")); }, ExitCode::usage,
               "a.txt: line 6: its total is 'nan +-4.9'");
}

TEST(TfCnnBenchmarks, NameTheHalfThatIsMissing) {
  const std::string heading = "Model:       resnet101\nBatch size:  256 global\n             64 per device\n",
                    steps = "1\timages/sec: 205.3 +/- 0.0 (jitter = 0.0)\t9.111\n",
                    total = "total images/sec: 812.40\n";
  expect_error([&] { imported(heading + steps); }, ExitCode::usage, "a.txt: it has no total images/sec",
               "did the benchmark end before its last line?");
  expect_error([&] { imported(steps + total); }, ExitCode::usage, "a.txt: it has no heading with 'Model:'",
               "give the output from its first line on");
}

TEST(TfCnnBenchmarks, TakesTheTotalOfOneRankAndTwoModelsAsTwoCases) {
  const std::string one = tf_cnn_benchmarks_example();
  const ImportedOutput output = imported(one + "total images/sec: 381.00\n" + replaced(one, "vgg16", "resnet50"));
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[0].asked.benchmark, "vgg16 batch 64 on 2 devices");
  EXPECT_THAT(values(output.cases[0], "rate"), ElementsAre(380.5));
}

TEST(Timestamps, AreTakenToUtc) {
  EXPECT_EQ(utc_of("2026-11-23T14:05:09+01:30"), "2026-11-23T12:35:09Z");
  EXPECT_EQ(utc_of("2026-01-01T00:05:09-00:10"), "2026-01-01T00:15:09Z");
  EXPECT_EQ(utc_of("2026/11/23-14:05:09"), "2026-11-23T14:05:09Z");
  EXPECT_EQ(utc_of("2026-11-23T14:05:09Z"), "2026-11-23T14:05:09Z");
  for (const char* none : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30 00:00:00", "2026-11-23T25:00:00Z",
                           "2026-11-23T14:05:09+1", "2026-11-23T14:05:09+01:0x", "2026-11-23T14:05"})
    EXPECT_EQ(utc_of(none), "") << none;
}

// Whatever a file holds, its parser gives cases that the database takes, or one line that names the file.
TEST(ImportFormats, SurviveDamage) {
  const std::map<std::string, std::string> examples = import_examples();
  unsigned seed = 1;
  for (const ImportFormat* format : import_formats()) {
    SCOPED_TRACE(format->name);
    ASSERT_TRUE(examples.contains(std::string(format->name)));
    support::survive_mutations(examples.at(std::string(format->name)), 2000, seed++, [&](const std::string& text) {
      ImportedOutput output = format->parse(text, "a.toml", {});
      output.later.push_back(output);
      for (ImportedOutput& run : output.later) {
        for (CaseResult& result : run.cases) result.asked.gpus = std::max(result.asked.gpus, 1);
        refuse_implausible(run.cases, "a.toml");
      }
    });
  }
}

TEST(ImportFormats, AreReadOrRefusedWhereverTheyAreCut) {
  for (auto [name, text] : import_examples()) {
    const ImportFormat& format = find_import_format(name);
    for (; !text.empty(); text.pop_back()) {
      try {
        EXPECT_FALSE(format.parse(text, "a.txt", {}).cases.empty());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_THAT(error.what(), HasSubstr("a.txt"));
      }
    }
  }
}

TEST(JsonLine, GivesABenchmarkForEachTimeAndRate) {
  const ImportedOutput output =
      imported("begin\nepoch 2\n  {\"step_ms\": 12.5, \"loss\": 0.5, \"tokens_per_s\": 4e5, \"run\": \"x\"}\n");
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[0].asked.question(), "gpus=1;benchmark=step_ms");
  EXPECT_THAT(values(output.cases[0], "seconds"), ElementsAre(0.0125));
  EXPECT_TRUE(tracked_metric(output.cases[0]).larger_is_worse);
  EXPECT_EQ(output.cases[1].asked.benchmark, "tokens_per_s");
  EXPECT_THAT(values(output.cases[1], "rate"), ElementsAre(4e5));
  EXPECT_FALSE(tracked_metric(output.cases[1]).larger_is_worse);
  EXPECT_EQ(tracked_metric(output.cases[1]).unit, "tokens/s");
  EXPECT_THAT(output.left_out, ElementsAre(HasSubstr("loss: its name ends with no unit")));
}

TEST(JsonLine, TakesOneUnitForAllItsNumbers) {
  const ImportedOutput output = imported("{\"forward\": 12, \"backward\": 20, \"unit\": \"us\"}");
  ASSERT_THAT(output.cases, SizeIs(2));
  EXPECT_EQ(output.cases[0].asked.benchmark, "backward");
  EXPECT_DOUBLE_EQ(values(output.cases[0], "seconds").at(0), 20e-6);
  EXPECT_EQ(imported("{\"speed\": 12, \"unit\": \"GB/s\"}").cases.at(0).samples.at(0).unit, "GB/s");
}

TEST(MeasuredUnits, AreThoseOfTimesAndRates) {
  const auto factor = [](std::string_view name) { return unit_of_name(name).value().factor; };
  EXPECT_EQ(factor("step_seconds"), 1);
  EXPECT_EQ(factor("step_us"), 1e-6);
  EXPECT_EQ(factor("ns"), 1e-9);
  EXPECT_EQ(factor("step_sec"), 1);
  EXPECT_EQ(measured_unit("min").value().factor, 60);
  EXPECT_EQ(unit_of_name("train_images_per_second").value().unit, "images/s");
  EXPECT_EQ(unit_of_name("per_s").value().unit, "1/s");
  for (const char* rate : {"GB/s", "tokens_per_ms", "bus_bw_gb_s", "tokens_per_min", "bandwidth_gbps", "net_mbit_s",
                           "x_GB_s", "tokens_per_s_per_gpu", "kb_ms", "tokens/ms", "speed_tflops"})
    EXPECT_TRUE(unit_of_name(rate).value().is_rate) << rate;
  for (const char* time : {"ms_per_step", "sec_per_iter", "ms/step", "time_per_iter_ms", "step_s"})
    EXPECT_FALSE(unit_of_name(time).value().is_rate) << time;
  EXPECT_EQ(factor("ms_per_step"), 1e-3);
  EXPECT_EQ(unit_of_name("tokens_per_ms").value().unit, "tokens/ms");
  for (const char* microseconds : {"usec", "microseconds", "latency_usec", "a b_us", "train/step_usec"})
    EXPECT_EQ(factor(microseconds), 1e-6) << microseconds;
  for (const char* milliseconds : {"msec", "milliseconds", "perf/train/step_ms", "step_msec"})
    EXPECT_EQ(factor(milliseconds), 1e-3) << milliseconds;
  EXPECT_EQ(factor("perf/step_time_seconds"), 1);
  EXPECT_EQ(factor("took_secs"), 1);
  for (const auto& [written, unit] : std::map<std::string, std::string>{{"img/s/GPU", "img/s/GPU"},
                                                                        {"tokens/sec/GPU", "tokens/s/GPU"},
                                                                        {"Tokens/s/device", "Tokens/s/device"},
                                                                        {"samples per second", "samples/s"},
                                                                        {"TFLOP/s/GPU", "TFLOP/s/GPU"},
                                                                        {"tokens per second per GPU", "tokens/s/GPU"}})
    EXPECT_EQ(measured_unit(written).value().unit, unit);
  EXPECT_EQ(unit_of_name("throughput/samples_per_sec").value().unit, "samples/s");
  EXPECT_EQ(unit_of_name("samples per second").value().unit, "samples/s");
  for (const char* none : {"tokens_s", "samples_ms", "samples_per_gpu", "bytes_per_token", "latency_min", "loss",
                           "steps", "", "_", "/s", "a/b", "accuracy_per_cent"})
    EXPECT_FALSE(unit_of_name(none).has_value()) << none;
}

TEST(JsonLine, RefusesWhatIsNoTimeAndNoRateWithItsLine) {
  const auto refused = [](const std::string& line, const std::string& what) {
    expect_error([&] { find_import_format("json-line").parse("one\n" + line + "\n", "a.txt", {}); }, ExitCode::usage,
                 what);
  };
  refused("{\"step_ms\": -3}", "a.txt:2: step_ms (-3) is not above 0");
  refused("{\"step_ms\": 0}", "a.txt:2: step_ms (0) is not above 0");
  refused("{\"step_ms\": NaN}", "a.txt:2: no number in it has the unit of a time or a rate (step_ms: it is no number)");
  refused("{\"step_ms\": 1, \"step_ms\": 2}", "a.txt:2: its JSON has 'step_ms' twice in one object");
  refused("{\"step_ms\": 12", "a.txt:2: its JSON is cut off here");
  refused("{\"loss\": 1}",
          "a.txt:2: no number in it has the unit of a time or a rate (loss: its name ends with no unit of a time or a "
          "rate)");
  refused("{\"step\": 1, \"unit\": \"parsec\"}",
          "a.txt:2: no number in it has the unit of a time or a rate (step: 'parsec' is no unit of a time or a rate)");
  refused("{\"step_ms\": \"-3\"}", "a.txt:2: step_ms (\"-3\") is not above 0");
  refused("{\"step_ms\": \"fast\"}",
          "a.txt:2: no number in it has the unit of a time or a rate (step_ms: it is no number)");
  refused("{\"step\": 1, \"unit\": 3}", "a.txt:2: unit (3) is no text");
  refused("no object", "a.txt: none of its lines is a JSON object");
}

TEST(CompleteCollectives, RefusesHintsThatTheFileContradicts) {
  ImportedOutput output;
  output.cases.resize(1);
  Case& asked = output.cases[0].asked;
  asked.collective.name = "all-reduce";
  asked.gpus = 4;
  asked.nodes = 2;
  complete_collectives(output, "a.txt", {.ranks = 4, .nodes = 2});
  expect_error([&] { complete_collectives(output, "a.txt", {.nodes = 1}); }, ExitCode::usage,
               "a.txt: it says that it ran on 2 nodes, and 1 are given",
               "leave out --nodes, or give the file of that run");
  EXPECT_EQ(asked.nodes, 2);
}

}  // namespace
}  // namespace hbench::import_formats_test
