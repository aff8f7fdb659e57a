#include "analysis/store/span_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "collectives/base/error.hpp"

namespace hbench::store {
namespace {

std::int64_t in_nanoseconds(Seconds time) { return std::llround(time.value * 1e9); }
Seconds from_nanoseconds(std::int64_t time) { return Seconds(1e-9 * static_cast<double>(time)); }

template <class Known>
auto known_of(const Known& known, std::int64_t index, const char* column, std::int64_t case_id) {
  if (index < 0 || index >= std::ssize(known))
    throw Error(ExitCode::wrong_data,
                fmt::format("span.{} of case {} is {}, which this hbench does not know", column, case_id, index),
                "use a newer hbench, or a copy of the database from before it was damaged");
  return known[static_cast<std::size_t>(index)];
}

[[noreturn]] void refuse(std::int64_t case_id, const std::string& what) {
  throw Error(ExitCode::wrong_data, fmt::format("a span of case {} {}", case_id, what),
              "the database was edited or damaged; go back to a copy of it");
}

/// A year, so that sums of two times are exact.
constexpr std::int64_t kMostTime = std::int64_t{365} * 24 * 3600 * 1'000'000'000;

std::int64_t nanoseconds_of(const Statement& row, int column, std::int64_t least, std::int64_t case_id) {
  const std::int64_t time = row.integer(column);
  if (time < least || time > kMostTime) refuse(case_id, fmt::format("has a time of {} ns", time));
  return time;
}

int count_of(const Statement& row, int column, const char* name, int least, std::int64_t case_id) {
  const std::int64_t count = row.integer(column);
  if (count < least || count > std::numeric_limits<int>::max())
    refuse(case_id, fmt::format("is of {} {}", name, count));
  return static_cast<int>(count);
}

/// \throws Error (wrong_data) for what no rank writes.
Span span_of(const Statement& row, std::int64_t case_id) {
  Span span{.rank = count_of(row, 2, "rank", 0, case_id),
            .lane = known_of(kLanes, row.integer(3), "lane", case_id),
            .kind = known_of(kSpanKinds, row.integer(4), "kind", case_id),
            .bucket = count_of(row, 7, "bucket", -1, case_id)};
  if (span.lane == Lane::communication && span.kind < SpanKind::negotiation)
    refuse(case_id, fmt::format("is '{}' in the lane of communication", to_string(span.kind)));
  // What a step's time went to is a share of it.
  const std::int64_t duration = nanoseconds_of(row, 6, span.kind == SpanKind::step ? 1 : 0, case_id);
  const std::int64_t begin = nanoseconds_of(row, 5, -kMostTime, case_id);
  span.begin = from_nanoseconds(begin);
  span.end = from_nanoseconds(begin + duration);
  return span;
}

}  // namespace

void insert_spans(Database& database, std::int64_t case_id, const std::vector<TracedStep>& steps) {
  if (steps.empty()) return;
  Statement row(database,
                "INSERT INTO span (case_id, launch, iteration, rank, seq, lane, kind, begin_ns, duration_ns, bucket) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const TracedStep& step : steps) {
    std::map<Rank, int> seq;
    for (const Span& span : step.spans)
      row.run(case_id, step.launch, step.iteration, span.rank, seq[span.rank]++, static_cast<int>(span.lane),
              static_cast<int>(span.kind), in_nanoseconds(span.begin), in_nanoseconds(span.duration()), span.bucket);
  }
}

std::vector<TracedStep> select_spans(Database& database, std::int64_t case_id) {
  std::vector<TracedStep> steps;
  if (!database.has_table("span")) return steps;
  Statement row(database,
                "SELECT launch, iteration, rank, lane, kind, begin_ns, duration_ns, bucket FROM span WHERE case_id = ? "
                "ORDER BY launch, iteration, rank, seq");
  row.bind(case_id);
  while (row.step()) {
    const int launch = count_of(row, 0, "launch", 0, case_id), iteration = count_of(row, 1, "iteration", 0, case_id);
    if (steps.empty() || steps.back().launch != launch || steps.back().iteration != iteration)
      steps.push_back({.launch = launch, .iteration = iteration});
    steps.back().spans.push_back(span_of(row, case_id));
  }
  return steps;
}

}  // namespace hbench::store
