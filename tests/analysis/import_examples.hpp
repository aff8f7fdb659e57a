#pragma once

/// Outputs of other programs in the shapes in which they write them; the figures are invented.

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// Two sizes of an all-reduce on four GPUs of two nodes; of the second `wrong` elements were wrong.
inline std::string nccl_tests_example(const std::string& wrong = "0") {
  std::string text =
      "# nccl-tests version 2.17.8 nccl-headers=22807 nccl-library=22807\n"
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 1 iters: 20\n#\n# Using devices\n";
  for (int rank = 0; rank < 4; ++rank)
    text += fmt::format("#  Rank  {} Group  0 Pid   71{} on node-{} device  {} [0000:0{}:00] NVIDIA H100 80GB HBM3\n",
                        rank, rank, rank / 2, rank % 2, rank % 2);
  text +=
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
      "#wrong\n"
      "        1024           256     float     sum      -1    22.50    0.05    0.07      0    20.25    0.05    0.08   "
      " "
      "N/A\n";
  text += fmt::format(
      "        2048           512     float     sum      -1    23.50    0.09    0.13      {}    21.00    0.10    0.15  "
      "  "
      "N/A\n",
      wrong);
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.1\n";
}

/// Three iterations of an all-gather of two processes with two GPUs each.
inline std::string nccl_tests_json_example(const std::string& wrong = "0.000000") {
  return R"({"version":2,"start_time":"2026-11-20 08:30:00","args":[".\/build\/all_gather_perf","-J","ag.json"],)"
         R"("env":["PATH=\/usr\/bin"],"nccl_version":22807,"config":{"nthreads":1,"ngpus":2,"devices":[)"
         R"({"rank":0,"group":0,"pid":7,"hostname":"a","device":0,"device_hex":"0000:04:00","device_info":"NVIDIA L4"},)"
         R"({"rank":2,"group":0,"pid":8,"hostname":"b","device":0,"device_hex":"0000:04:00","device_info":"NVIDIA L4"}]},)"
         R"("results":[{"size":4096,"count":512,"type":"half","redop":"none","root":"    -1","out_of_place":)"
         R"({"time":12.500000,"alg_bw":0.327680,"bus_bw":0.245760,"nwrong":)" +
         wrong +
         R"(},"out_of_place_per_iter":{"min_us":12.0,"times_us":[12.0,12.5,13.0]},"in_place":{"time":11.000000,)"
         R"("alg_bw":0.372364,"bus_bw":0.279273,"nwrong":null},"actual_iterations":3,"experiment_name":"x"}],)"
         R"("out_of_bounds":{"count":0,"okay":"true"},"end_time":"2026-11-20 08:31:00"})";
}

/// A table with or without -f.
inline std::string osu_example(bool full, const std::string& test = "Allreduce",
                               const std::string& library = "MPI-CUDA") {
  std::string text = fmt::format("\n# OSU {} {} Latency Test v7.5\n# Datatype: MPI_FLOAT.\n", library, test);
  if (full)
    return text +
           "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
           "1024                   21.50             18.25             24.00        1000\n"
           "2048                   22.50             19.25             25.00        1000\n";
  return text + "# Size       Avg Latency(us)\n1024                   21.50\n2048                   22.50\n";
}

/// Two repetitions of one benchmark with their mean, and one benchmark that failed.
inline std::string google_benchmark_example(const std::string& first = "1.5000000000000000e+03",
                                            const std::string& date = "2026-11-20T09:30:00+01:00") {
  const auto entry = [](const std::string& type, int index, const std::string& time) {
    return fmt::format(
        R"(    {{
      "name": "BM_Sort/64{}",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "BM_Sort/64",
      "run_type": "{}",
      "repetitions": 2,
      "repetition_index": {},
      "threads": 1,
      "iterations": 36059,
      "real_time": {},
      "cpu_time": 1.4e+03,
      "time_unit": "us"
    }},
)",
        type == "aggregate" ? "_mean" : "", type, index, time);
  };
  return fmt::format(R"({{
  "context": {{
    "date": "{}",
    "host_name": "build-7",
    "executable": "./build/sort_benchmark",
    "num_cpus": 8,
    "mhz_per_cpu": 2400,
    "cpu_scaling_enabled": false,
    "caches": [
      {{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}},
      {{"type": "Instruction", "level": 1, "size": 65536, "num_sharing": 2}},
      {{"type": "Unified", "level": 2, "size": 1048576, "num_sharing": 2}}
    ],
    "load_avg": [0.11,0.26,0.44],
    "library_build_type": "release"
  }},
  "benchmarks": [
{}{}{}    {{
      "name": "BM_Broken",
      "run_name": "BM_Broken",
      "run_type": "iteration",
      "error_occurred": true,
      "error_message": "no such file",
      "iterations": 0,
      "real_time": 0.0,
      "cpu_time": 0.0,
      "time_unit": "ns"
    }}
  ]
}}
)",
                     date, entry("iteration", 0, first), entry("iteration", 1, "1.7000000000000000e+03"),
                     entry("aggregate", 0, "1.6e+03"));
}

/// A benchmark with an axis: a state that was timed, one that was skipped.
inline std::string nvbench_example(const std::string& seconds = "1.25e-06") {
  return fmt::format(R"({{
  "meta": {{
    "argv": ["./bin/copy_bench", "--json", "copy.json"],
    "version": {{"json": {{"major": 1, "string": "1.0.0"}}, "nvbench": {{"string": "0.1.0"}}}}
  }},
  "devices": [{{"id": 0, "name": "NVIDIA L4", "sm_version": 890}}],
  "benchmarks": [{{
    "name": "copy",
    "index": 0,
    "devices": [0],
    "states": [
      {{
        "name": "Device=0 Elements=2^20",
        "device": 0,
        "axis_values": [{{"name": "Elements", "type": "int64", "value": "1048576"}}],
        "summaries": [
          {{"tag": "nv/cold/time/gpu/sample_size", "name": "Samples", "data": [{{"name": "value", "value": "12"}}]}},
          {{"tag": "nv/batch/time/gpu/mean", "name": "Batch", "data": [{{"name": "value", "value": "1.0e-06"}}]}},
          {{"tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "data": [{{"name": "value", "value": "{}"}}]}}
        ],
        "is_skipped": false
      }},
      {{
        "name": "Device=0 Elements=2^30",
        "device": 0,
        "axis_values": [{{"name": "Elements", "type": "int64", "value": "1073741824"}}],
        "summaries": null,
        "is_skipped": true,
        "skip_reason": "too large"
      }}
    ]
  }}]
}}
)",
                     seconds);
}

/// Two sizes of an all-reduce by the ring, of two ranks.
inline std::string hbench_collective_example(const std::string& wrong = "0") {
  const auto row = [](int bytes, const std::string& status, const std::string& bad) {
    return fmt::format(
        R"({{"collective": "all-reduce", "candidate": "ring", "peer": false, "ranks": 2, "executor": "shm",
  "algorithm": "ring", "compressor": "none", "servers": null, "server_mode": null, "workload": null, "fusion": null,
  "size": {}, "type": "float32", "redop": "sum", "status": "{}", "failure": {}, "evidence": "measured",
  "profile": "local", "nodes": 1, "in_place_seconds": 2e-5, "in_place_wrong": {},
  "samples": [{{"metric": "in_place_seconds", "launch": 0, "warmup": true, "rank": 0, "values": [9e-5]}},
              {{"metric": "in_place_seconds", "launch": 0, "warmup": false, "rank": 0, "values": [2e-5, 3e-5]}},
              {{"metric": "in_place_seconds", "launch": 0, "warmup": false, "rank": 1, "values": [4e-5, 1e-5]}},
              {{"metric": "wire_bytes", "launch": 0, "warmup": false, "rank": 0, "values": [1024]}}]}})",
        bytes, status, status == "done" ? "null" : "\"wrong on rank 1\"", bad);
  };
  return fmt::format(
      R"({{"format": 1, "command": "hbench collective --json", "version": "0.1.0",
 "started_at": "2026-11-20T08:30:00Z", "environment": {{"cpu": "some CPU", "cores": "2"}},
 "results": [{}, {}]}})",
      row(1024, "done", "0"), row(2048, wrong == "0" ? "done" : "failed", wrong));
}

/// Two sizes of an all-reduce on four GPUs, each in both ways.
inline std::string rccl_tests_example() {
  const auto record = [](int bytes, int in_place, double us) {
    return fmt::format(
        R"({{"#wrong":"0","algBw":{:.9f},"busBw":{:.9f},"gpus":4,"inPlace":{},"name":"AllReduce","redop":"sum","size":{},"time":{},"type":"float"}})"
        "\n",
        bytes / us / 1e3, 1.5 * bytes / us / 1e3, in_place, bytes, us);
  };
  return record(1024, 0, 20.5) + record(1024, 1, 19.5) + record(2048, 0, 21.5) + record(2048, 1, 20.25);
}

/// An all-reduce and an exchange of Intel's benchmarks.
inline std::string imb_example() {
  return "# MPI_Datatype                   :   MPI_BYTE\n# MPI_Datatype for reductions    :   MPI_FLOAT\n"
         "# MPI_Op                         :   MPI_SUM\n# Benchmarking PingPong\n# #processes = 2\n"
         "       #bytes #repetitions      t[usec]   Mbytes/sec\n            8         1000         0.50        16.00\n"
         "# Benchmarking Allreduce\n# #processes = 4\n"
         "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
         "            0         1000         0.03         0.03         0.03\n"
         "         1024         1000         4.50        18.59        11.50\n"
         "         2048         1000         5.39        17.63        12.25\n";
}

/// A heading and a total of tf_cnn_benchmarks.
inline std::string tf_cnn_benchmarks_example() {
  return "Model:       vgg16\nBatch size:  128 global\n             64 per device\n"
         "Devices:     ['/gpu:0', '/gpu:1']\n1\timages/sec: 190.7 +/- 0.0\ntotal images/sec: 380.50\n";
}

/// Two runs of one command.
inline std::string hyperfine_example() {
  return R"({
  "results": [
    {
      "command": "./pack --fast",
      "mean": 0.25,
      "stddev": 0.01,
      "median": 0.25,
      "user": 0.2,
      "system": 0.03,
      "times": [
        0.24,
        0.26
      ],
      "exit_codes": [0, 0]
    }
  ]
})";
}

/// One test; its machine has a name.
inline std::string pytest_benchmark_example() {
  return R"({
  "machine_info": {"node": "a", "cpu": {"count": 8, "brand_raw": "Some CPU @ 3.00GHz"}},
  "commit_info": {"id": "0123", "time": "2026-11-20T08:00:00+00:00"},
  "benchmarks": [
    {
      "group": null,
      "name": "test_sort",
      "fullname": "tests/test_a.py::test_sort",
      "params": null,
      "stats": {"min": 2.1e-05, "max": 0.0003, "mean": 2.4e-05, "stddev": 6e-06, "median": 2.25e-05, "rounds": 38523}
    }
  ],
  "datetime": "2026-11-20T08:30:00.123456+00:00",
  "version": "5.1.0"
})";
}

/// The throughput of a benchmark with a parameter, and its time: a run with `-bm all`.
inline std::string jmh_example() {
  const auto entry = [](const std::string& mode, const std::string& metric) {
    return fmt::format(
        R"({{"jmhVersion": "1.37", "benchmark": "org.a.Sort.run", "mode": "{}", "threads": 1, "forks": 2,
  "params": {{"size": "64"}}, "primaryMetric": {{{}}}, "secondaryMetrics": {{}}}})",
        mode, metric);
  };
  return "[\n" +
         entry("thrpt", R"("score": 2.5, "scoreError": "NaN", "scoreUnit": "ops/us", "rawData": [[2.0, 2.5], [3.0]])") +
         ",\n" + entry("avgt", R"("score": 400.0, "scoreUnit": "ns/op")") + "\n]\n";
}

/// The two tests of a model, of two repetitions each.
inline std::string llama_bench_example() {
  const auto line = [](int prompt, int generated, const std::string& rest) {
    return fmt::format(
        R"({{"build_commit": "b12", "cpu_info": "Some CPU", "gpu_info": "Some GPU", "model_type": "llama 1B Q4_0", )"
        R"("n_prompt": {}, "n_gen": {}, "test_time": "2026-11-20T08:30:0{}Z", {}}})"
        "\n",
        prompt, generated, generated > 0 ? 1 : 0, rest);
  };
  return line(512, 0,
              R"("avg_ns": 1000000, "stddev_ns": 9, "avg_ts": 2950.0, "stddev_ts": 20.5, "samples_ts": [2900, 3000])") +
         line(0, 128, R"("avg_ns": 2000000, "stddev_ns": 9, "avg_ts": 97.5, "stddev_ts": 0.5, "samples_ts": [97, 98])");
}

/// What programs write for github-action-benchmark.
inline std::string name_unit_value_example() {
  return R"([
  {"name": "Sort", "unit": "ms", "value": 12.5, "range": "3%"},
  {"name": "Requests", "unit": "req/s", "value": 900},
  {"name": "Memory", "unit": "Megabytes", "value": 100}
]
)";
}

/// A time, a rate, and a measure of one's own.
inline std::string bencher_example() {
  return R"({
  "sort": {
    "latency": {"value": 88.5, "lower_value": 87.0, "upper_value": 90.0},
    "throughput": {"value": 5.5}
  },
  "a.out": {"file-size": {"value": 4096.0}, "gates": {"value": 12}}
}
)";
}

/// A benchmark whose long name has a line of its own, and its change since the last time.
inline std::string criterion_example() {
  return "Benchmarking sort/of a long name/1024: Analyzing\n"
         "sort/of a long name/1024\n"
         "                        time:   [16.652 \xc2\xb5s 18.019 \xc2\xb5s 19.562 \xc2\xb5s]\n"
         "                        thrpt:  [52.35 Melem/s 56.83 Melem/s 61.49 Melem/s]\n"
         "                 change:\n"
         "                        time:   [+2.0909% +10.813% +19.663%] (p = 0.01 < 0.05)\n"
         "                        Performance has regressed.\n";
}

/// What `cargo bench` prints of `#[bench]`.
inline std::string libtest_example() {
  return "\nrunning 2 tests\ntest ignored ... ignored\n"
         "test sort::small ... bench:      18,149.53 ns/iter (+/- 755) = 56 MB/s\n"
         "\ntest result: ok. 0 passed; 0 failed; 1 ignored; 1 measured; 0 filtered out\n";
}

/// A table of Catch2, in which one name is longer than its column.
inline std::string catch2_example() {
  const std::string dashes(79, '-');
  return dashes + "\nSorting\n" + dashes + "\nsort.cpp:5\n" + std::string(79, '.') +
         "\n\n"
         "benchmark name                       samples       iterations    est run time\n"
         "                                     mean          low mean      high mean\n"
         "                                     std dev       low std dev   high std dev\n" +
         dashes +
         "\n"
         "Sort 1024                                      100             2     8.3712 ms \n"
         "                                        41.731 us      41.25 us     42.622 us \n"
         "                                         3.256 us      2.163 us      5.353 us \n"
         "                                                                              \n"
         "Sort of many elements that are in   \n"
         "order already                                  100            20       7.48 ms \n"
         "                                           344 ns        341 ns        349 ns \n"
         "                                            19 ns         11 ns         29 ns \n";
}

/// An example of each format, by its name.
inline std::map<std::string, std::string> import_examples() {
  return {{"nccl-tests", nccl_tests_example()},
          {"nccl-tests-json", nccl_tests_json_example()},
          {"osu", osu_example(true)},
          {"google-benchmark", google_benchmark_example()},
          {"nvbench", nvbench_example()},
          {"hbench-collective", hbench_collective_example()},
          {"rccl-tests-records", rccl_tests_example()},
          {"imb", imb_example()},
          {"tf-cnn-benchmarks", tf_cnn_benchmarks_example()},
          {"hyperfine", hyperfine_example()},
          {"pytest-benchmark", pytest_benchmark_example()},
          {"jmh", jmh_example()},
          {"llama-bench", llama_bench_example()},
          {"name-unit-value", name_unit_value_example()},
          {"bencher", bencher_example()},
          {"criterion", criterion_example()},
          {"libtest", libtest_example()},
          {"catch2", catch2_example()},
          {"json-line", "epoch 1\n{\"step_ms\": 12.5, \"tokens_per_s\": 4e5}\n"}};
}

inline std::vector<double> values(const CaseResult& result, std::string_view metric) {
  std::vector<double> all;
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) all.push_back(sample.value);
  return all;
}

}  // namespace hbench
