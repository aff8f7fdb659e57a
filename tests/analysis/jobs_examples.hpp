#pragma once

/// Recordings of exchanges between ranks, made here: the Flight Recorder and NCCL Inspector need GPUs. Their members
/// are those of the sources that write them (pytorch `FlightRecorderDetail.hpp`, nccl `inspector_json.cc`).

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/job/job.hpp"
#include "analysis/job/job_format.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {

/// The buckets of ResNet-50, and when DDP launched them on two A100.
inline const std::vector<std::pair<int, double>> kBuckets{
    {2'049'000, 107.9}, {7'875'584, 117.7}, {6'563'840, 123.9}, {6'637'568, 149.6}, {2'431'040, 189.4}};

/// One entry of the Flight Recorder at a time in milliseconds.
inline nlohmann::json flight_entry(const std::string& name, const nlohmann::json& sizes, double at,
                                   double duration = 0) {
  const std::int64_t created = 1'724'779'239'936'775'119 + static_cast<std::int64_t>(at * 1e6);
  nlohmann::json entry{{"record_id", 0},
                       {"pg_id", 0},
                       {"process_group", {"0", "default_pg"}},
                       {"collective_seq_id", 1},
                       {"p2p_seq_id", 0},
                       {"op_id", 1},
                       {"profiling_name", name},
                       {"time_created_ns", created},
                       {"input_sizes", sizes},
                       {"input_dtypes", {"Float"}},
                       {"output_sizes", sizes},
                       {"output_dtypes", {"Float"}},
                       {"state", "completed"},
                       {"time_discovered_started_ns", 0},
                       {"time_discovered_completed_ns", created + 100'000'000},
                       {"retired", true},
                       {"timeout_ms", 600'000},
                       {"is_p2p", false}};
  if (duration > 0) {
    entry["duration_ms"] = duration;
    entry["time_discovered_started_ns"] = created + 50'000'000;
  }
  return entry;
}

inline nlohmann::json flight_dump(nlohmann::json entries) {
  return {{"version", "2.10"},
          {"comm_lib_version", "2.26.2"},
          {"pg_config", {{"0", {{"name", "0"}, {"desc", "default_pg"}, {"ranks", "[0, 1, 2, 3]"}}}}},
          {"pg_status", {{"0", {{"last_enqueued_collective", "30"}}}}},
          {"entries", std::move(entries)}};
}

/// Training under DDP: the first step has other buckets, and every third step all-reduces its loss. `wait` is the time
/// that each exchange takes beside its bytes' own; 0: without durations.
inline nlohmann::json ddp_entries(int steps, double wait) {
  nlohmann::json entries = nlohmann::json::array();
  entries.push_back(flight_entry("nccl:broadcast", {{1'000'000}}, 0));
  for (const int elements : {5'000'000, 20'557'032})
    entries.push_back(flight_entry("nccl:all_reduce", {{elements}}, 10, wait));
  for (int step = 0; step < steps; ++step) {
    const double begin = 100 + 220.0 * step;
    for (const auto& [elements, at] : kBuckets)
      entries.push_back(
          flight_entry("nccl:all_reduce", {{elements}}, begin + at, wait > 0 ? wait + elements / 4e6 : 0));
    if (step % 3 == 2)
      entries.push_back(flight_entry("nccl:all_reduce", nlohmann::json::array({nlohmann::json::array()}), begin + 210));
  }
  return entries;
}

/// NCCL Inspector's object of one exchange; `at` in milliseconds, with the times of verbose mode where it is not 0.
inline nlohmann::json inspected(int rank, const std::string& operation, std::int64_t bytes, double at,
                                double milliseconds) {
  nlohmann::json exchange{{"coll", operation},
                          {"coll_sn", 1407},
                          {"coll_msg_size_bytes", bytes},
                          {"coll_exec_time_us", static_cast<std::int64_t>(milliseconds * 1000)},
                          {"coll_timing_source", "kernel_gpu"},
                          {"coll_algobw_gbs", 277.210914},
                          {"coll_busbw_gbs", 485.119099}};
  if (at > 0) {
    const auto start = 1'752'867'229'235'059 + static_cast<std::int64_t>(at * 1000);
    exchange["event_trace_ts"] = {
        {"coll_start_ts", start},
        {"coll_stop_ts", start + 5},
        {"kernel_events", {{{"channel_id", 0}, {"kernel_start_ts", start + 122}, {"kernel_stop_ts", start + 900}}}}};
  }
  return {{"header", {{"id", "0xe62dedaa97644a"}, {"rank", rank}, {"n_ranks", 4}, {"nnodes", 1}}},
          {"metadata",
           {{"inspector_output_format_version", "v4.0"},
            {"git_rev", "9019a1912-dirty"},
            {"rec_mechanism", "nccl_profiler_interface"},
            {"dump_timestamp_us", 1'752'867'229'276'385},
            {"hostname", "node1"},
            {"pid", 438'776 + rank}}},
          {"coll_perf", std::move(exchange)}};
}

/// A file of one test's own.
class RecordedFile {
 public:
  RecordedFile(const std::string& name, const std::string& text) : file_((folder_ / name).string()) {
    write_bytes(file_, text);
  }
  const std::string& name() const { return file_; }
  std::vector<Recording> read() const { return read_recordings(file_, {}); }
  TrainingJob job(const JobRequest& request = {}) const { return make_job(read(), request); }

 private:
  TemporaryFolder folder_;
  std::string file_;
};

}  // namespace hbench
