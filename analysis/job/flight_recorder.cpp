/// Dumps of PyTorch's Flight Recorder, as JSON and as the pickle that PyTorch writes. Names of members:
/// pytorch/pytorch `torch/csrc/distributed/c10d/FlightRecorder.hpp` and `FlightRecorderDetail.hpp`, versions 2.0
/// to 2.10; before PyTorch 2.3 a dump is the list of entries alone.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/job/exchange_log.hpp"
#include "analysis/job/job_format.hpp"
#include "analysis/job/json_elements.hpp"
#include "analysis/job/pickle.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

/// Of tensors' shapes `[[3, 4], [2]]`: 14. 0 where there is none, or one is damaged.
std::int64_t elements_of_shapes(const Json* shapes) {
  if (shapes == nullptr || !shapes->is_array()) return 0;
  double sum = 0;
  for (const Json& shape : *shapes) sum += elements_of_shape(shape);
  return known_elements(sum);
}

/// `[0, 1, 2]` as PyTorch writes it, a text; or as a list. Empty where there is none.
std::vector<int> ranks_of(const Json* ranks) {
  const Json list = ranks != nullptr && ranks->is_string() ? read_json(ranks->get_ref<const std::string&>())
                                                           : (ranks != nullptr ? *ranks : Json());
  std::vector<int> numbers;
  if (!list.is_array()) return numbers;
  for (const Json& rank : list)
    if (rank.is_number_integer() && rank >= 0 && rank < 10'000'000) numbers.push_back(rank.get<int>());
  return numbers;
}

/// PyTorch names a dump by a prefix and the rank, which stands nowhere else: `nccl_trace_rank_3`.
std::optional<int> rank_in_name(const std::string& file_name) {
  std::string name = file_name.substr(file_name.find_last_of('/') + 1);
  const std::size_t word = name.rfind("rank");
  std::size_t begin = word == name.npos ? name.npos : name.find_first_not_of("_-.", word + 4);
  if (begin == name.npos || std::isdigit(static_cast<unsigned char>(name[begin])) == 0) {
    // Without the word: only digits at the end of all, as `fr_3`.
    begin = name.find_last_not_of("0123456789") + 1;
    if (begin == 0 || begin == name.size()) return std::nullopt;
  }
  const std::size_t end = std::min(name.find_first_not_of("0123456789", begin), name.size());
  return end - begin > 7 ? std::nullopt : std::optional(std::stoi(name.substr(begin, end - begin)));
}

/// One entry of the ring, which is the oldest first.
struct Entry {
  RecordedCollective exchange;
  std::string group_name, group_words;  ///< `0` and `default_pg`; words may stand for several groups
  std::int64_t created = 0;
  double noticed = 0;        ///< between the times at which a start and an end were noticed; 0: not known
  UnfinishedExchange state;  ///< without its group; the name is empty for the entry of a whole batch
  bool completed = true;
  bool counts = true;  ///< it is an exchange of a step
};

/// A time in nanoseconds; 0: not known.
std::int64_t nanoseconds_of(const Json& entry, const char* name) {
  const Json* found = json_member(entry, name);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

bool is_true(const Json& entry, const char* name) {
  const Json* found = json_member(entry, name);
  return found != nullptr && *found == true;
}

class FlightRecorderReader {
 public:
  explicit FlightRecorderReader(const std::string& file_name) : source_(file_name), file_name_(file_name) {}

  Recording run(bool pickle) {
    if (pickle) {
      read_whole(read_pickle(source_, "frames"));
    } else {
      const JsonVisitor visitor{.list = "entries",
                                .member = [&](const std::string& name, const Json& value) { head(name, value); },
                                .element = [&](std::string_view text) { entry(parse_element(text, file_name_)); }};
      complete_ = visit_json(source_, visitor);
    }
    ExchangeLog exchanges = log();
    Recording facts = exchanges.recording;
    try {
      return with_steps(std::move(exchanges));
    } catch (const Error& error) {
      facts.no_steps = error;  // a job may hang in its first step
      return facts;
    }
  }

 private:
  void read_whole(const Json& dump) {
    if (!dump.is_object() && !dump.is_array())
      throw Error(ExitCode::usage, fmt::format("{}: it is no dump of the Flight Recorder", file_name_),
                  "is it as PyTorch wrote it?");
    if (dump.is_object())
      for (const auto& [name, value] : dump.items()) head(name, value);
    const Json* entries = dump.is_array() ? &dump : json_member(dump, "entries");
    if (entries != nullptr && entries->is_array())
      for (const Json& each : *entries) entry(each);
  }

  void head(const std::string& name, const Json& value) {
    if (name != "pg_config" || !value.is_object()) return;
    for (const auto& [group, config] : value.items()) {
      if (!config.is_object()) continue;
      ranks_[group] = ranks_of(json_member(config, "ranks"));
    }
  }

  void entry(const Json& value) {
    if (!value.is_object()) return;
    const std::string name = json_text(value, "profiling_name");
    Entry entry;
    entry.exchange.operation = operation_word(name);
    entry.exchange.elements = elements_of_shapes(json_member(value, "input_sizes"));
    entry.exchange.type = type_word(json_first_text(json_member(value, "input_dtypes")));
    // Several exchanges that were launched as one have an entry of their own each, and one for all.
    const bool for_all = name.ends_with("coalesced") && entry.exchange.elements == 0;
    entry.counts = !entry.exchange.operation.empty() && entry.exchange.operation != "barrier" && !for_all;
    if (backend_.empty() && entry.counts) backend_ = name.substr(0, name.find(':') == name.npos ? 0 : name.find(':'));
    read_group(entry, json_member(value, "process_group"));
    read_state(entry, value);
    if (!for_all) entry.state.name = name.substr(name.find(':') + 1);
    if (entry.counts) read_times(entry, value);
    const std::size_t texts = entry.group_name.size() + entry.group_words.size() + entry.state.name.size();
    source_.keep(entries_, std::move(entry), texts);
  }

  static void read_group(Entry& entry, const Json* group) {
    entry.group_name = json_first_text(group);
    if (group != nullptr && group->is_string()) entry.group_name = group->get<std::string>();
    if (group != nullptr && group->is_array() && group->size() > 1 && group->at(1).is_string())
      entry.group_words = group->at(1).get<std::string>();
    if (entry.group_words == "undefined") entry.group_words.clear();
  }

  void read_state(Entry& entry, const Json& value) {
    const std::string state = json_text(value, "state");  // before PyTorch 2.1 there is none
    // A completed exchange is retired; no more is known of Gloo's.
    entry.completed = state.empty() || state == "completed" || is_true(value, "retired");
    entry.state.started = state == "started" || nanoseconds_of(value, "time_discovered_started_ns") > 0;
    starts_ = starts_ || *entry.state.started;
    entry.state.between_two = is_true(value, "is_p2p");
    if (!entry.state.between_two) entry.state.sequence = known_whole(json_number(value, "collective_seq_id"));
    entry.state.bytes = entry.exchange.elements * type_bytes(entry.exchange.type);
    entry.state.launched = nanoseconds_of(value, "time_created_ns");
    for (const char* time : {"time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"})
      newest_ = std::max(newest_, nanoseconds_of(value, time));
  }

  void read_times(Entry& entry, const Json& value) {
    entry.created = nanoseconds_of(value, "time_created_ns");
    timed_ = timed_ && entry.created > 0;
    const double milliseconds = json_number(value, "duration_ms");
    if (milliseconds > 0 && milliseconds < 1e9) entry.exchange.duration = Seconds(milliseconds * 1e-3);
    measured_ = measured_ || entry.exchange.duration.has_value();
    const std::int64_t began = nanoseconds_of(value, "time_discovered_started_ns"),
                       ended = nanoseconds_of(value, "time_discovered_completed_ns");
    if (began > 0 && ended > began) entry.noticed = static_cast<double>(ended - began) * 1e-9;
  }

  ExchangeLog log() {
    std::map<std::string, std::set<std::string>> groups;  // by their words
    for (const Entry& entry : entries_) groups[entry.group_words].insert(entry.group_name);
    // Gloo describes a group before it has a name.
    const auto nameless = ranks_.find("");
    if (nameless != ranks_.end() && ranks_.size() == 1 && groups.size() == 1 && groups.begin()->second.size() == 1)
      ranks_[*groups.begin()->second.begin()] = nameless->second;
    ExchangeLog log;
    log.recording = facts(groups.contains("default_pg") ? *groups["default_pg"].begin() : "0");
    log.timed = timed_;
    log.more_cure = "TORCH_FR_BUFFER_SIZE (before PyTorch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE) says how many are kept";
    for (Entry& entry : entries_) {
      RecordedCollective& exchange = entry.exchange;
      const bool clear = !entry.group_words.empty() && groups[entry.group_words].size() == 1;
      exchange.group = clear ? entry.group_words : entry.group_name;
      exchange.launched = Seconds(static_cast<double>(entry.created - entries_.front().state.launched) * 1e-9);
      RecordedGroup& group = log.recording.groups[exchange.group];
      if (const auto ranks = ranks_.find(entry.group_name); ranks != ranks_.end() && group.members.empty())
        group.members = ranks->second;
      exchange.ranks = static_cast<int>(group.members.size());
      note_state(group, entry);
      if (!entry.counts) continue;
      if (!measured_ && entry.noticed > 0) exchange.duration = Seconds(entry.noticed);
      log.exchanges.push_back(std::move(exchange));
    }
    note_unknown(log);
    return log;
  }

  /// Collectives of a group complete in their order, and so do sends of a rank to another. PyTorch does not follow
  /// those of a batch one by one: what stands before a batch that has completed has completed too.
  void note_state(RecordedGroup& group, Entry& entry) const {
    if (!starts_) entry.state.started.reset();
    group.last = std::max(group.last, entry.state.sequence);
    if (entry.completed)
      std::erase_if(group.unfinished, [&](const UnfinishedExchange& before) {
        return entry.state.name.empty() || (before.between_two == entry.state.between_two &&
                                            (!before.between_two || before.name == entry.state.name));
      });
    else if (!entry.state.name.empty())
      group.unfinished.push_back(std::move(entry.state));
  }

  /// `world` is the name of the group of all ranks, which is the first one of a job.
  Recording facts(const std::string& world) const {
    Recording recording{.file = file_name_, .format = {}, .rank = rank_in_name(file_name_), .backend = backend_};
    recording.complete = complete_;
    recording.newest = newest_;
    const auto ranks = ranks_.find(world);
    if (ranks == ranks_.end()) return recording;
    recording.world = static_cast<int>(ranks->second.size());
    if (recording.rank && std::ranges::find(ranks->second, *recording.rank) == ranks->second.end())
      recording.rank.reset();
    return recording;
  }

  void note_unknown(ExchangeLog& log) const {
    log.recording.no_backward =
        "The Flight Recorder sees exchanges, and neither the forward nor the backward pass: for a workload, record "
        "some steps with torch.profiler (hbench import-job trace.json.gz).";
    const auto note = [&](std::string text) { log.recording.unknown.push_back(std::move(text)); };
    if (!complete_) note("The file ends before its list of entries does: what came after is not known.");
    if (!log.recording.rank)
      note("Which rank a dump is of stands in its name only, as in nccl_trace_rank_0: this one does not say it.");
    const bool any = std::ranges::any_of(log.exchanges, [](const auto& each) { return each.duration.has_value(); });
    if (!any)
      note(backend_ == "nccl"
               ? "How long the exchanges took was not recorded: set TORCH_NCCL_ENABLE_TIMING=1 for the job."
               : "How long the exchanges took was not recorded: only NCCL's are timed.");
    else if (!measured_)
      note(
          "Durations are between the times at which a thread of PyTorch noticed a start and an end, which may be 100 "
          "ms late: TORCH_NCCL_ENABLE_TIMING=1 measures them.");
    if (!timed_) note("When exchanges were launched is not in the file: the time of a step is not known.");
  }

  TextSource source_;
  std::string file_name_, backend_;
  std::map<std::string, std::vector<int>> ranks_;  ///< by the name of the group
  std::vector<Entry> entries_;
  bool complete_ = true, timed_ = true, measured_ = false;
  std::int64_t newest_ = 0;
  bool starts_ = false;  ///< PyTorch has noticed when exchanges start
};

bool is_flight_recorder(std::string_view head) {
  const auto has = [&](std::string_view word) { return head.find(word) != head.npos; };
  if (looks_like_pickle(head)) return has("pg_config") || has("pg_status") || has("profiling_name");
  return first_mark(head) == '{' && (has("\"pg_status\"") || (has("\"entries\"") && has("\"profiling_name\"")));
}

std::vector<Recording> read_flight_recorder(const std::string& file_name) {
  TextSource source(file_name);
  const int first = source.peek();
  const bool json = first == '{' || first == '[' || first == ' ' || first == '\n' || first == '\r' || first == '\t';
  return {FlightRecorderReader(file_name).run(!json)};
}

}  // namespace

extern constinit const JobFormat kFlightRecorderFormat{
    .name = "flight-recorder",
    .summary = "a dump of PyTorch's Flight Recorder, JSON or pickle",
    .example =
        "TORCH_NCCL_DUMP_ON_TIMEOUT=1 (a file for each rank: nccl_trace_rank_0), or "
        "torch._C._distributed_c10d._dump_nccl_trace()",
    .recognises = is_flight_recorder,
    .read = read_flight_recorder};

}  // namespace hbench
