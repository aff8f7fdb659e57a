#include "reports/formats/perfetto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// The threads of a process: compute, then rows of input, of buckets, of coding and of negotiation, at most
/// `kRowsOfAKind` of each.
constexpr int kCompute = 1;
constexpr int kRowsOfAKind = 1000;

struct Rows {
  SpanKind kind;
  const char* name;
};
constexpr std::array kRows{Rows{SpanKind::input, "input"}, Rows{SpanKind::communication, "buckets"},
                           Rows{SpanKind::coding, "copies and coding"}, Rows{SpanKind::negotiation, "negotiation"}};

std::int64_t in_nanoseconds(Seconds time) { return std::llround(time.value * 1e9); }

std::string name_of(const Span& span, int iteration) {
  if (span.kind == SpanKind::step) return fmt::format("step {}", iteration);
  if (span.bucket < 0) return std::string(to_string(span.kind));
  return span.kind == SpanKind::communication ? fmt::format("bucket {}", span.bucket)
                                              : fmt::format("{} of bucket {}", to_string(span.kind), span.bucket);
}

/// A metadata event: what a process or a thread is called, and where it is shown.
Json metadata(const char* name, int process, int thread, const char* key, Json value) {
  return {{"name", name}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{key, std::move(value)}}}};
}

/// One rank of one launch.
class Process {
 public:
  Process(int number, int launch, Rank rank) : number_(number), launch_(launch), rank_(rank) {}

  void add(const Span& span, int iteration) { spans_.push_back({span, iteration}); }

  void write(Json& events) {
    events.push_back(
        metadata("process_name", number_, 0, "name", fmt::format("launch {} rank {}", launch_ + 1, rank_)));
    events.push_back(metadata("process_sort_index", number_, 0, "sort_index", number_));
    name_thread(events, kCompute, "compute");
    // Longer ones first where several begin at once: they contain the others.
    std::ranges::stable_sort(spans_, [](const Traced& a, const Traced& b) {
      return std::pair(a.span.begin.value, -a.span.end.value) < std::pair(b.span.begin.value, -b.span.end.value);
    });
    for (const Traced& each : spans_) write(events, each);
  }

 private:
  struct Traced {
    Span span;
    int iteration;
  };

  void name_thread(Json& events, int thread, const std::string& name) const {
    events.push_back(metadata("thread_name", number_, thread, "name", name));
    events.push_back(metadata("thread_sort_index", number_, thread, "sort_index", thread));
  }

  void write(Json& events, const Traced& each) {
    const Span& span = each.span;
    const int thread = row_of(events, span);
    const std::int64_t begin = in_nanoseconds(span.begin), end = in_nanoseconds(span.end);
    Json args{{"step", each.iteration}};
    if (span.bucket >= 0) args["bucket"] = span.bucket;
    events.push_back({{"name", name_of(span, each.iteration)},
                      {"cat", to_string(span.kind)},
                      {"ph", "X"},
                      {"pid", number_},
                      {"tid", thread},
                      {"ts", static_cast<double>(begin) / 1e3},
                      {"dur", static_cast<double>(std::max<std::int64_t>(end - begin, 0)) / 1e3},
                      {"args", std::move(args)}});
  }

  /// The first row of its kind that is free: events of one thread must not overlap unless one contains the other.
  int row_of(Json& events, const Span& span) {
    const auto rows = std::ranges::find(kRows, span.kind, &Rows::kind);
    if (rows == kRows.end()) return kCompute;
    std::vector<std::int64_t>& ends = ends_[span.kind];
    const auto free = std::ranges::find_if(ends, [&](std::int64_t end) { return end <= in_nanoseconds(span.begin); });
    const auto row = free - ends.begin();
    const int thread = kCompute + 1 + static_cast<int>(rows - kRows.begin()) * kRowsOfAKind + static_cast<int>(row);
    if (free == ends.end()) {
      name_thread(events, thread, row == 0 ? rows->name : fmt::format("{} {}", rows->name, row + 1));
      ends.push_back(0);
    }
    ends[static_cast<std::size_t>(row)] = in_nanoseconds(span.end);
    return thread;
  }

  int number_, launch_;
  Rank rank_;
  std::vector<Traced> spans_;
  std::map<SpanKind, std::vector<std::int64_t>> ends_;
};

}  // namespace

std::string perfetto_json(const TraceFile& trace) {
  std::map<std::pair<int, Rank>, Process> processes;
  for (const TracedStep& step : trace.steps)
    for (const Span& span : step.spans) processes.try_emplace({step.launch, span.rank}, 0, step.launch, span.rank);
  int number = 0;
  for (auto& [key, process] : processes) process = Process(++number, key.first, key.second);
  for (const TracedStep& step : trace.steps)
    for (const Span& span : step.spans) processes.at({step.launch, span.rank}).add(span, step.iteration);
  Json events = Json::array();
  for (auto& [key, process] : processes) process.write(events);
  const Json file{{"traceEvents", std::move(events)},
                  {"displayTimeUnit", "ms"},
                  {"otherData", {{"case", trace.title}, {"evidence", trace.evidence}}}};
  return file.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace hbench
