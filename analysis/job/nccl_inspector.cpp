/// Logs of NCCL Inspector, the profiler plugin: objects one after the other, each of one exchange. Names of members:
/// NVIDIA/nccl `plugins/profiler/inspector/inspector_json.cc` and its README, versions 4.0 to 4.3.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/job/exchange_log.hpp"
#include "analysis/job/job_format.hpp"
#include "analysis/job/json_elements.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

/// Beyond it, sums of bytes would be lost.
constexpr double kMostDumpedBytes = 1e13;

/// Who wrote an object. Up to version 4.2 each has it; later the first of a batch, and those that follow are of it.
struct Writer {
  std::string process;  ///< host and process
  std::string group;
  int rank = -1, ranks = 0;  ///< in the group, and of it
};

struct InspectedExchange {
  Writer writer;
  RecordedCollective exchange;
  double at = 0;  ///< microseconds; 0: not known
};

int whole(const Json& object, const char* name) {
  const double number = json_number(object, name);
  return number >= 0 && number < 1e7 ? static_cast<int>(number) : -1;
}

/// The begin of the kernel of the channel that began first, in microseconds; 0: not known.
double kernel_begin(const Json& times) {
  const Json* kernels = json_member(times, "kernel_events");
  double begin = 0;
  if (kernels == nullptr || !kernels->is_array()) return begin;
  for (const Json& kernel : *kernels) {
    const double each = kernel.is_object() ? json_number(kernel, "kernel_start_ts") : NAN;
    if (each > 0 && (begin == 0 || each < begin)) begin = each;
  }
  return begin;
}

class InspectorReader {
 public:
  explicit InspectorReader(const std::string& file_name) : source_(file_name), file_name_(file_name) {}

  std::vector<Recording> run() {
    complete_ = visit_json_stream(source_, [&](std::string_view text) { object(parse_element(text, file_name_)); });
    std::map<std::pair<std::string, int>, std::vector<InspectedExchange>> parts;  // by process and rank
    for (InspectedExchange& each : exchanges_) {
      const int part = many_ranks_.contains(each.writer.process) ? each.writer.rank : -1;
      parts[{each.writer.process, part}].push_back(std::move(each));
    }
    if (parts.empty()) parts[{}];
    std::vector<Recording> recordings;
    for (auto& [part, exchanges] : parts) recordings.push_back(with_steps(log_of(std::move(exchanges))));
    return recordings;
  }

 private:
  void object(const Json& value) {
    if (const Json* header = json_member(value, "header"); header != nullptr && header->is_object())
      writer_ = writer_of(*header, json_object(value, "metadata"));
    dropped_ = dropped_ || json_number(json_object(value, "dump_stats"), "coll_dropped_total") > 0;
    if (const Json* exchange = json_member(value, "coll_perf"); exchange != nullptr && exchange->is_object())
      add(*exchange, "coll");
    if (const Json* exchange = json_member(value, "p2p_perf"); exchange != nullptr && exchange->is_object())
      add(*exchange, "p2p");
  }

  Writer writer_of(const Json& header, const Json& metadata) {
    Writer writer{fmt::format("{}:{}", json_text(metadata, "hostname"), whole(metadata, "pid")),
                  json_text(header, "comm_name"), whole(header, "rank"), std::max(0, whole(header, "n_ranks"))};
    const std::string id = json_text(header, "id");
    if (writer.group.empty() || writer.group == "unknown") writer.group = id;
    const auto known = rank_of_.try_emplace({writer.process, id}, writer.rank).first;
    if (known->second != writer.rank) many_ranks_.insert(writer.process);
    return writer;
  }

  void add(const Json& value, const std::string& kind) {
    if (writer_.rank < 0)
      throw Error(ExitCode::usage, fmt::format("{}: an exchange does not say whose it is", file_name_),
                  "is the begin of the file missing? Give the file as NCCL Inspector wrote it");
    InspectedExchange each{writer_, {.operation = operation_word(json_text(value, kind.c_str()))}};
    RecordedCollective& exchange = each.exchange;
    if (exchange.operation.empty()) return;
    exchange.group = writer_.group;
    exchange.ranks = writer_.ranks;
    // NCCL counts what a rank keeps of a reduce-scatter, and what goes to one rank of an all-to-all.
    const bool of_each = exchange.operation == "reduce-scatter" || exchange.operation == "all-to-all";
    const double bytes = json_number(value, (kind + "_msg_size_bytes").c_str()) * (of_each ? writer_.ranks : 1);
    if (bytes >= 1 && bytes <= kMostDumpedBytes) exchange.bytes = static_cast<std::int64_t>(bytes);
    const double took = json_number(value, (kind + "_exec_time_us").c_str());
    if (took > 0 && took < 1e12) exchange.duration = Seconds(took * 1e-6);
    const Json& times = json_object(value, "event_trace_ts");
    const double at = json_number(times, (kind + "_start_ts").c_str()), began = kernel_begin(times);
    if (at > 0) each.at = at;
    if (at > 0 && began >= at) exchange.began = Seconds((began - at) * 1e-6);
    const std::size_t texts = each.writer.process.size() + 2 * each.writer.group.size();
    source_.keep(exchanges_, std::move(each), texts);
  }

  ExchangeLog log_of(std::vector<InspectedExchange> exchanges) const {
    ExchangeLog log;
    log.recording.file = file_name_;
    log.recording.backend = "nccl";
    log.more_cure =
        "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500 writes them before they are overwritten, and "
        "NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES says from which size";
    log.timed =
        !exchanges.empty() && std::ranges::all_of(exchanges, [](const InspectedExchange& each) { return each.at > 0; });
    if (log.timed)
      std::ranges::stable_sort(exchanges, {}, &InspectedExchange::at);
    else
      keep_one_group(exchanges);
    for (InspectedExchange& each : exchanges) {
      // Of all groups, the largest says which rank of the job this is.
      if (each.writer.ranks > log.recording.world) {
        log.recording.world = each.writer.ranks;
        log.recording.rank = each.writer.rank;
      }
      if (log.timed) each.exchange.launched = Seconds((each.at - exchanges.front().at) * 1e-6);
      if (each.exchange.began) *each.exchange.began += each.exchange.launched;
      log.exchanges.push_back(std::move(each.exchange));
    }
    note_unknown(log);
    return log;
  }

  /// Without times, only exchanges of one group have an order.
  void keep_one_group(std::vector<InspectedExchange>& exchanges) const {
    std::set<std::string> reducing;
    for (const InspectedExchange& each : exchanges)
      if (each.exchange.operation == "all-reduce" || each.exchange.operation == "reduce-scatter")
        reducing.insert(each.exchange.group);
    if (reducing.size() > 1)
      throw Error(ExitCode::usage,
                  fmt::format("{}: {} groups reduce something, and without times their order is not known", file_name_,
                              reducing.size()),
                  "record with NCCL_INSPECTOR_DUMP_VERBOSE=1, which writes times");
    if (reducing.size() == 1)
      std::erase_if(exchanges, [&](const InspectedExchange& each) { return each.exchange.group != *reducing.begin(); });
  }

  void note_unknown(ExchangeLog& log) const {
    log.recording.no_backward =
        "NCCL Inspector sees exchanges, and neither the forward nor the backward pass: for a workload, record some "
        "steps with torch.profiler (hbench import-job trace.json.gz).";
    const auto note = [&](std::string text) { log.recording.unknown.push_back(std::move(text)); };
    if (!complete_) note("The file ends within an exchange: what came after is not known.");
    if (dropped_)
      note(
          "NCCL Inspector has overwritten exchanges before it wrote them: set "
          "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500.");
    if (!log.timed)
      note(
          "When exchanges were launched is not in the file, and so the time of a step is not known: record with "
          "NCCL_INSPECTOR_DUMP_VERBOSE=1.");
    note("The type of the gradients is not in the file, only their bytes: elements are not known.");
  }

  TextSource source_;
  std::string file_name_;
  Writer writer_;
  std::map<std::pair<std::string, std::string>, int> rank_of_;  ///< by process and group: the first seen
  std::set<std::string> many_ranks_;                            ///< processes that have several ranks of one group
  std::vector<InspectedExchange> exchanges_;
  bool complete_ = true, dropped_ = false;
};

bool is_inspector(std::string_view head) {
  const auto has = [&](std::string_view word) { return head.find(word) != head.npos; };
  return has("\"coll_perf\"") || has("\"p2p_perf\"") || has("\"inspector_output_format_version\"");
}

std::vector<Recording> read_inspector(const std::string& file_name) { return InspectorReader(file_name).run(); }

}  // namespace

extern constinit const JobFormat kNcclInspectorFormat{
    .name = "nccl-inspector",
    .summary = "a log of NCCL Inspector, JSON; one or more ranks",
    .example =
        "NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1 "
        "NCCL_INSPECTOR_DUMP_VERBOSE=1",
    .advice = {.passes = "record some steps with torch.profiler", .steps = "record with NCCL_INSPECTOR_DUMP_VERBOSE=1"},
    .recognises = is_inspector,
    .read = read_inspector};

}  // namespace hbench
