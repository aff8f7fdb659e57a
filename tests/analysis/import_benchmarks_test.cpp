// What programs of CI write: the figures of their examples, and the whole line of each refusal.

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "analysis/import/format.hpp"
#include "analysis/import/import.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/text.hpp"
#include "tests/analysis/import_examples.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::import_benchmarks_test {
namespace {

ImportedOutput imported(const std::string& text, const ImportHints& hints = {}) {
  return recognise(text, "a.txt").parse(text, "a.txt", hints);
}

/// `sort: 0.25 0.5 s, less is better`.
std::vector<std::string> cases_of(const ImportedOutput& output) {
  std::vector<std::string> all;
  for (const CaseResult& each : output.cases) {
    const TrackedMetric metric = tracked_metric(each);
    std::string text = each.asked.benchmark + ":";
    for (const Sample& sample : each.samples) text += fmt::format(" {:.10g}", sample.value);
    all.push_back(fmt::format("{} {}, {} is better", text, metric.unit, metric.larger_is_worse ? "less" : "more"));
  }
  return all;
}

/// A file that is read: its cases, and what is left out of it.
struct Read {
  std::string_view format;
  std::string text;
  std::vector<std::string> cases, left_out = {};
  ImportHints hints = {};
};

const std::string kLines =
    "{\"name\": \"a\", \"step_ms\": 1, \"config\": \"x\"}\n{\"name\": \"b\", \"step_ms\": 2, \"step_std_ms\": 0.1}\n";

std::vector<Read> files_to_read() {
  const std::string gates = "a.out gates: nothing says whether more or less of 'gates' is better";
  const std::string memory = "Memory: nothing says whether more or less of 'Megabytes' is better";
  return {
      {"hyperfine", "progress\n" + hyperfine_example(), {"./pack --fast: 0.24 0.26 s, less is better"}},
      {"hyperfine",
       R"({"results": [{"command": "a", "median": 0.1, "times": [0.1, 0.1], "exit_codes": [1, 1]},
                       {"command": "b", "median": 0.2, "times": [0.2], "exit_codes": [0]},
                       {"command": "c", "median": 0.3, "times": [0.3, 0.3], "exit_codes": [0, null]}]})",
       {"b: 0.2 s, less is better"},
       {"a: its runs ended with 1", "c: its runs were ended by a signal"}},
      {"pytest-benchmark", pytest_benchmark_example(), {"tests/test_a.py::test_sort: 2.25e-05 s, less is better"}},
      {"jmh",
       jmh_example(),
       {"org.a.Sort.run size=64 thrpt: 2 2.5 3 ops/us, more is better",
        "org.a.Sort.run size=64 avgt: 4e-07 s, less is better"}},
      {"llama-bench",
       llama_bench_example(),
       {"llama 1B Q4_0 n_prompt=512 n_gen=0: 2900 3000 tokens/s, more is better",
        "llama 1B Q4_0 n_prompt=0 n_gen=128: 97 98 tokens/s, more is better"}},
      {"llama-bench",
       R"([{"model_type": "m", "n_prompt": 1, "n_gen": 0, "n_threads": 4, "test_time": "a", "avg_ts": 2.5},
 {"model_type": "m", "n_prompt": 1, "n_gen": 0, "n_threads": 8, "test_time": "b", "avg_ts": 3.5},
 {"model_type": "n", "n_prompt": 1, "n_gen": 0, "n_threads": 8, "test_time": "c", "avg_ts": 4.5}])",
       {"m n_prompt=1 n_gen=0 n_threads=4: 2.5 tokens/s, more is better",
        "m n_prompt=1 n_gen=0 n_threads=8: 3.5 tokens/s, more is better",
        "n n_prompt=1 n_gen=0: 4.5 tokens/s, more is better"}},
      {"name-unit-value",
       name_unit_value_example(),
       {"Sort: 0.0125 s, less is better", "Requests: 900 req/s, more is better"},
       {memory}},
      {"name-unit-value",
       R"([{"ph": 1, "ts": 2, "name": "a", "unit": "ms", "value": 3}])",
       {"a: 0.003 s, less is better"}},
      {"name-unit-value",
       name_unit_value_example(),
       {"Sort: 0.0125 s, less is better", "Requests: 900 req/s, more is better",
        "Memory: 100 Megabytes, less is better"},
       {},
       {.better = BetterValue::lower}},
      {"bencher",
       bencher_example(),
       {"a.out file-size: 4096 B, less is better", "sort latency: 8.85e-08 s, less is better",
        "sort throughput: 5.5 ops/s, more is better"},
       {gates}},
      {"bencher",
       "{\"a.out\": {\"gates\": {\"value\": 12}}}",
       {"a.out gates: 12 gates, more is better"},
       {},
       {.better = BetterValue::higher}},
      {"criterion", criterion_example(), {"sort/of a long name/1024: 1.8019e-05 s, less is better"}},
      {"criterion", "a    time:   [1.5 ps 2.5 ps 3.5 ps]\n", {"a: 2.5e-12 s, less is better"}},
      {"libtest", libtest_example(), {"sort::small: 1.814953e-05 s, less is better"}},
      {"catch2",
       catch2_example(),
       {"Sort 1024: 4.1731e-05 s, less is better",
        "Sort of many elements that are in order already: 3.44e-07 s, less is better"}},
      {"json-line",
       kLines,
       {"a step_ms: 0.001 s, less is better", "b step_ms: 0.002 s, less is better"},
       {"step_std_ms: it says how far others scatter"}},
      {"json-line",
       "{\"step_ms\": \"12.4\", \"tokens_per_s\": \"10,112\", \"fwd_ms\": \"?\", \"version\": \"3\"}\n",
       {"step_ms: 0.0124 s, less is better", "tokens_per_s: 10112 tokens/s, more is better"},
       {"fwd_ms: it is no number"}},
      {"json-line",
       "{\"name\": \"128\", \"unit\": \"ms\", \"value\": \"12.4\"}\n{\"name\": \"rss\", \"unit\": \"MB\", \"value\": "
       "8}\n"
       "{\"name\": \"c\", \"unit\": \"s\", \"value\": null}\n",
       {"128 value: 0.0124 s, less is better"},
       {"rss value: 'MB' is no unit of a time or a rate", "c value: it is no number"}},
      {"json-line",
       "{\"step_ms\": 3}\n{\"name\": \"b\", \"step_ms\"",
       {"step_ms: 0.003 s, less is better"},
       {"line 2: it is cut off"}},
      {"json-line",
       "{\"config\": {\"gpus\": 8}}\n{\"step_ms\": 3, \"end_ms\": 1752000000000}\n",
       {"step_ms: 0.003 s, less is better"},
       {"config: a line of times and rates is flat, and this has more in it", "end_ms: it is a time of day"}},
      {"json-line",
       "\n{\n    \"epoch\": 1.0,\n    \"train_loss\": 1.3021,\n    \"train_samples_per_second\": 26.125\n}\n",
       {"train_samples_per_second: 26.125 samples/s, more is better"},
       {"epoch: its name ends with no unit of a time or a rate",
        "train_loss: its name ends with no unit of a time or a rate"}},
      {"json-line",
       "{\"eta_seconds\": 3201, \"uptime_s\": 7, \"elapsed_per_step_ms\": 2, \"job.timeout_s\": 9, \"step_ms\": 3}\n",
       {"elapsed_per_step_ms: 0.002 s, less is better", "step_ms: 0.003 s, less is better"},
       {"eta_seconds: it says how long the job runs or waits, and not how fast it is",
        "job.timeout_s: it says how long the job runs or waits, and not how fast it is",
        "uptime_s: it says how long the job runs or waits, and not how fast it is"}},
      {"json-line",
       "{\"epoch\": {\"train\": {\"value\": 1.5}}}\n{\"step_ms\": 12.5}\n",
       {"step_ms: 0.0125 s, less is better"},
       {"epoch: a line of times and rates is flat, and this has more in it"}},
      {"json-line",
       "{\"peak\": 7, \"seed\": 0, \"step_ms\": 12.5}\n{\"memory\": 812, \"unit\": \"MiB\"}\n",
       {"peak: 7 peak, less is better", "step_ms: 0.0125 s, less is better", "memory: 812 MiB, less is better"},
       {"seed: it is not above 0"},
       {.better = BetterValue::lower}},
  };
}

/// Each line behind a time and a label, and with the colours of a terminal.
std::string as_ci_prints(const std::string& text) {
  std::string all;
  for (const std::string_view line : lines_of(text))
    all += fmt::format("2024-07-04T10:05:04.1234567Z 1: \x1b[1;33m{}\x1b[0m\n", line);
  return all;
}

TEST(BenchmarkFormats, AreReadBehindTheMarksOfCiAndInColours) {
  for (const Read& each : files_to_read()) {
    if (each.format != "criterion" && each.format != "libtest" && each.format != "catch2" && each.format != "json-line")
      continue;
    SCOPED_TRACE(each.text);
    ImportRequest request{.machine = "m", .program = "p"};
    request.hints = each.hints;
    if (each.text.find("{\n") != std::string::npos) continue;  // an object on several lines is a text's only one
    const auto read = [&](const std::string& text) {
      return read_files({{"a.txt", text}}, request).at(0).at(0).output;
    };
    EXPECT_EQ(cases_of(read(as_ci_prints(each.text))), cases_of(read(each.text)));
  }
  expect_error([] { imported("1: Benchmark           Time      CPU Iterations\n"); }, ExitCode::usage,
               "a.txt: this is what Google Benchmark prints for people");
  expect_error([] { imported("| Command | Mean [ms] | Min [ms] |\n"); }, ExitCode::usage,
               "a.txt: this is what hyperfine prints for people", HasSubstr("--export-json"));
}

TEST(BenchmarkFormats, GiveEachBenchmarkWithTheWayThatIsBetter) {
  for (const Read& each : files_to_read()) {
    SCOPED_TRACE(each.text);
    EXPECT_EQ(recognise(each.text, "a.txt").name, each.format);
    const ImportedOutput output = imported(each.text, each.hints);
    EXPECT_EQ(cases_of(output), each.cases);
    EXPECT_EQ(output.left_out, each.left_out);
    refuse_implausible(output.cases, "a.txt");
  }
}

TEST(BenchmarkFormats, ReadAnArrayWhereOthersHaveLines) {
  std::string array = "[\n" + llama_bench_example();
  array.replace(array.find("}\n{"), 2, "},\n");
  EXPECT_EQ(cases_of(imported(array + "]\n")), cases_of(imported(llama_bench_example())));
}

TEST(BenchmarkFormats, RefuseABetterThatAllUnitsSay) {
  const auto read = [](const std::string& text) {
    read_files({{"a.log", text}}, {.machine = "lab", .program = "a", .hints = {.better = BetterValue::lower}});
  };
  expect_error([&] { read("{\"step_ms\": 1}\n"); }, ExitCode::usage,
               StrEq("a.log: --better changes none of its values: their units say it"),
               StrEq("leave --better (in hbench.toml better) out"));
  read("{\"step_ms\": 1, \"peak\": 7}\n");
}

// Each was looked for among all that were left out before.
TEST(BenchmarkFormats, LeaveManyFiguresOutInTimeThatGrowsWithThem) {
  std::string line = "{\"step_ms\": 1";
  for (int i = 0; i < 100'000; ++i) line += fmt::format(", \"a_figure_of_a_long_name_{}\": 1", i);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(imported(line + "}\n").left_out.size(), 100'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(15));
}

/// A table of nccl-tests that was written again, without times.
std::string rewritten(const std::string& rows, bool markdown = false) {
  const std::string table = "size\ttype\tredop\tbusbw\talgo\n" + rows;
  if (!markdown) return table;
  std::string bars;
  for (const char c : table) bars += c == '\t' ? " | " : c == '\n' ? " |\n| " : std::string(1, c);
  return "| " + bars.substr(0, bars.find('\n') + 1) + "| ---: | --- | --- | ---: | --- |\n" +
         bars.substr(bars.find('\n') + 1);
}
const std::string kRewritten = "1048576\tfloat\tsum\t15.00\tRING\n2097152\tfloat\tsum\t30.00\tTREE\n";

TEST(NcclTestsTables, WithoutTimesHaveThoseOfTheirBusBandwidth) {
  for (const bool markdown : {false, true}) {
    const ImportedOutput output =
        imported(rewritten(kRewritten + "64\tfloat\tsum\t0.03\tRING\n", markdown), {"all_reduce", 4, 2});
    ASSERT_EQ(output.cases.size(), 2u);
    EXPECT_EQ(output.cases[0].asked.question(),
              "gpus=4;algorithm=vendor;compressor=none;overlap=yes;collective=all-reduce;bytes=1048576;type=float32;"
              "redop=sum;executor=nccl-tests;device=gpu");
    EXPECT_DOUBLE_EQ(output.cases[0].samples.at(0).value, 1.5 * 1048576 / 15e9);
    EXPECT_THAT(output.left_out, ElementsAre("1 timing of a busbw with too few digits for a time"));
  }
}

TEST(NcclTestsTables, WithoutTimesMayHaveTheirUnitLeft) {
  const ImportedOutput output = imported(rewritten("(B)\t(us)\t(GB/s)\n" + kRewritten), {"all_reduce", 4, 2});
  ASSERT_EQ(output.cases.size(), 2u);
  EXPECT_DOUBLE_EQ(output.cases[0].samples.at(0).value, 1.5 * 1048576 / 15e9);
}

TEST(NcclTestsTables, WithoutTimesLeaveOutWhatHasNoBusBandwidth) {
  const ImportedOutput output = imported(
      rewritten(kRewritten + "64\tfloat\tsum\t0.00\tRING\n128\tfloat\tsum\t-3.00\tRING\n"), {"all_reduce", 4, 2});
  EXPECT_EQ(output.cases.size(), 2U);
  EXPECT_THAT(output.left_out, ElementsAre("line 5: its busbw is -3.00", "line 4: its busbw is 0.00"));
}

TEST(OsuOverNccl, GivesTheTypesOfNcclTheNamesOfHbench) {
  for (const auto& [printed, type] : std::map<std::string, std::string>{{"NCCL_FLOAT", "float32"},
                                                                        {"NCCL_BFLOAT16", "bfloat16"},
                                                                        {"MPI_DOUBLE", "float64"},
                                                                        {"MPI_CHAR", "MPI_CHAR"}})
    EXPECT_EQ(imported("# OSU NCCL Allreduce Latency Test v7.5\n# Datatype: " + printed +
                       ".\n# Size       Avg Latency(us)\n4                      41.11\n")
                  .cases.at(0)
                  .asked.collective.data_type,
              type);
}

/// A file that is refused: the whole line, and the whole cure.
struct Refused {
  std::string text, why, cure;
  ImportHints hints = {};
};

TEST(UnknownImports, AreRefusedWithTheWayOut) {
  const std::string
      unknown = "a.txt: nothing known has this format",
      tracks =
          " -- COMMAND tracks a number in a text (cat FILE prints one that is there); hbench list imports has the "
          "formats, and --as names one",
      rest = "hbench track init --pattern 'step: ([0-9.]+) ms' --unit ms" + tracks,
      table =
          "a table of one collective and number of nodes is read as nccl-tests, OSU and IMB print it, or under a line "
          "of names such as 'size type redop time busbw' (bytes, us, GB/s; time may be left out), with --collective, "
          "--ranks, --nodes; " +
          rest,
      json =
          "JSON is read of lines such as {\"step_ms\": 12.3, \"tokens_per_s\": 4e5}, or a list [{\"name\": "
          "\"step\", \"unit\": \"ms\", \"value\": 12.3}]; " +
          rest,
      log =
          "this log of a training job is for hbench import-job; hbench track init --pattern "
          R"('elapsed time per iteration \(ms\): ([0-9.]+)' --unit ms)" +
          tracks,
      fields =
          "print such as {\"step_ms\": 12.3, \"tokens_per_s\": 4e5}: let names end with _s, _ms, _us, _ns "
          "or _per_s, or add \"unit\": \"ms\" (s, ms, us, ns, min, .../s)",
      other_json =
          fields +
          "; or take one of its numbers: hbench track init --pattern '\"time\": ([0-9.]+)' --unit s -- COMMAND",
      again =
          "print each once, or tell lines apart by a \"name\"; of a series --pattern with --take median "
          "or last takes one (hbench track init --help)",
      better =
          "--better lower or --better higher says it, better = \"lower\" in hbench.toml; times are s, ms, "
          "us, ns and min, rates end with /s",
      each_its_own = "a file is what one process wrote: give each a file, or benchmarks names of their own",
      of_a_job = "make a workload of it: hbench import-job a.txt";
  const std::vector<Refused> all{
      {"iteration 3 | elapsed time per iteration (ms): 5361.6 |\n", unknown, log},
      {"[2024-05-01 10:00:00] step 3, loss 2.1\n", unknown, rest},
      {"[INFO] {0: 'a'}\n", unknown, rest},
      {"at 10:00:00 memory bandwidth: 812 GB/s\n", unknown,
       "hbench track init --pattern 'memory bandwidth: ([0-9.]+)' --unit GB/s" + tracks},
      {"Sort took 1,204.5 ms\n", unknown, "hbench track init --pattern 'Sort took ([0-9.,]+)' --unit ms" + tracks},
      {"Serving Benchmark Result\nRequest throughput (req/s): 8.1\nMean TTFT (ms): 71.2\n", unknown,
       R"(hbench track init --pattern 'Request throughput \(req/s\): ([0-9.]+)' --unit req/s)" + tracks},
      {"[1, 2]\n", unknown, json},
      {"{\n \"summary\": {\n", unknown, json},
      {"{\n  \"summary\": {\n    \"speed\": 3\n  }\n}\n", unknown, json},
      {"| payload | 1 node | 4 nodes |\n| ---: | ---: | ---: |\n|  32KiB | 1.20GBps | 0.01GBps |\n", unknown, table},
      {"all_reduce\n  200.0 MB  400  8212.44  20.53  81.72  153.23\nop  size  count  busbw_avg (Gbps)\n", unknown,
       table},
      {"  Count   Size   Time, us   Bandwidth, GB/s\n  256   1024   17.31   0.06\n", unknown, table},
      {"[{\"name\": \"AllReduce\", \"cat\": \"COLL\", \"ph\": \"b\", \"ts\": 7642.3}]\n",
       "a.txt: this is a trace of events (Chrome's format): of a job, not of a benchmark", of_a_job},
      {"{\"coll_perf\": {\"coll\": \"AllReduce\", \"coll_sn\": 1}}\n",
       "a.txt: this is a log of exchanges by NCCL Inspector: of a job, not of a benchmark", of_a_job},
      {"{\"step_ms\": 1}\n{\"step_ms\": 2}\n", "a.txt:2: step_ms (2) is in line 1 as well", again},
      {kLines + "{\"name\": \"a\", \"step_ms\": 3}\n", "a.txt:3: step_ms (3) is in line 1 as well", again},
      {"{\"a_ms\": 1}\n{\"b_ms\": x}\n", "a.txt:2: this is no JSON", "is it as the program wrote it?"},
      {"{\"commit\": \"b1\", \"rounds\": 5, \"stddev_ns\": 12}\n",
       "a.txt:1: no number in it has the unit of a time or a rate (rounds: its name ends with no unit of a time or a "
       "rate)",
       other_json},
      {"{\"key\": \"stats\", \"step_ms\": 1, \"value\": {\"throughput\": 3}}\n",
       "a.txt:1: no number in it has the unit of a time or a rate (value: a line of times and rates is flat, and this "
       "has more in it)",
       other_json},
      {"[{\"name\": \"Load\", \"unit\": \"Percent\", \"value\": 50}]\n",
       "a.txt: Load: nothing says whether more or less of 'Percent' is better", better},
      {"[{\"name\": \"Load\", \"unit\": \"ms\", \"value\": 0}]\n", "a.txt: Load: its value is 0",
       "did the program fail?"},
      {libtest_example() + libtest_example(), "a.txt: two benchmarks are called 'sort::small'", each_its_own},
      {llama_bench_example() + llama_bench_example(),
       "a.txt: two benchmarks are called 'llama 1B Q4_0 n_prompt=512 n_gen=0'", each_its_own},
      {rewritten(kRewritten), "a.txt: it does not say on how many GPUs of how many nodes it ran",
       "add such as --ranks 16 --nodes 2"},
      {rewritten(kRewritten),
       "a.txt: it has no column 'time', and does not say of which collective its busbw is",
       "add that column, or --collective all-reduce, reduce-scatter, all-gather or broadcast",
       {.ranks = 4}},
      {rewritten("(B)\t(us)\t(us)\n" + kRewritten),
       "a.txt:2: its column 'busbw' is in 'us'",
       "nccl-tests prints times in us and bandwidths in GB/s",
       {"all_reduce", 4, 2}},
  };
  for (const Refused& each : all) {
    SCOPED_TRACE(each.text);
    expect_error([&] { imported(each.text, each.hints); }, ExitCode::usage, testing::Eq(each.why),
                 testing::Eq(each.cure));
  }
}

TEST(UnknownImports, OfKnownProgramsSayHowToWriteTheirJson) {
  for (const auto& [text, program, flag] : std::vector<std::array<std::string, 3>>{
           {"Name (time in us)       Min      Max\n", "pytest-benchmark", "--benchmark-json=1.json"},
           {"  Time (mean \xc2\xb1 \xcf\x83):   436.3 ms\n", "hyperfine", "--export-json 1.json"},
           {"Benchmark   (size)  Mode  Cnt   Score\n", "JMH", "-rf json -rff 1.json"},
           {"Benchmark       Time       CPU  Iterations\n", "Google Benchmark", "--benchmark_format=json > 1.json"},
           {"| model |    size |  params | backend |\n", "llama-bench", "-o jsonl > 1.jsonl"}})
    expect_error([&] { imported("begin\n" + text); }, ExitCode::usage,
                 "a.txt: this is what " + program + " prints for people", "its JSON is read: run it with " + flag);
}

}  // namespace
}  // namespace hbench::import_benchmarks_test
