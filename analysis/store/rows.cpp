#include "analysis/store/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>

#include "analysis/records/case_fields.hpp"
#include "analysis/records/judgements.hpp"
#include "analysis/store/uuid.hpp"
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
  const bool computes = span.kind < SpanKind::negotiation || span.kind == SpanKind::input;
  if (span.lane == Lane::communication && computes)
    refuse(case_id, fmt::format("is '{}' in the lane of communication", to_string(span.kind)));
  // What a step's time went to is a share of it.
  const std::int64_t duration = nanoseconds_of(row, 6, span.kind == SpanKind::step ? 1 : 0, case_id);
  const std::int64_t begin = nanoseconds_of(row, 5, -kMostTime, case_id);
  span.begin = from_nanoseconds(begin);
  span.end = from_nanoseconds(begin + duration);
  return span;
}

/// Revision 1: the first. 2: places, labels, and one table of cases.
constexpr std::string_view kImplementation = "sqlite/2";

constexpr std::string_view kSelectSamples =
    "SELECT launch, rank, iteration, warmup, metric, value, unit FROM sample WHERE case_id = ? ORDER BY seq";

std::string_view to_string(CaseStatus status) { return status == CaseStatus::done ? "done" : "failed"; }

int small(const Statement& row, int column) { return static_cast<int>(row.integer(column)); }

/// `evidence, workload, ...`: every field's column.
std::string field_columns() {
  std::string columns;
  for (const CaseField& field : case_fields()) columns += fmt::format("{}{}", columns.empty() ? "" : ", ", field.name);
  return columns;
}

std::string insert_case() {
  constexpr std::string_view kOthers = "run_id, status, failure, exit_code, question, place, ";
  std::string places = "?, ?, ?, ?, ?, ?";
  for (std::size_t i = 0; i < case_fields().size(); ++i) places += ", ?";
  return fmt::format("INSERT INTO scaling_case ({}{}) VALUES ({})", kOthers, field_columns(), places);
}

/// The columns that `result_of` reads, of the cases that `where` keeps.
std::string select_cases(std::string_view where, std::string_view order = "started_at, one.id") {
  return fmt::format(
      "SELECT one.id, status, failure, exit_code, run.id, version, started_at, coalesce(words.value, ''), {} "
      "FROM scaling_case AS one JOIN run ON run.id = one.run_id "
      "LEFT JOIN environment AS words ON words.run_id = one.run_id AND words.key = 'machine ' || machine "
      "WHERE {} ORDER BY {}",
      field_columns(), where, order);
}
constexpr int kFirstField = 8;

/// A column as a value of the type that `like` has.
FieldValue value_of(const Statement& row, int column, const FieldValue& like) {
  if (std::holds_alternative<std::string>(like)) return row.text(column);
  if (std::holds_alternative<double>(like)) return row.real(column);
  if (std::holds_alternative<bool>(like)) return row.integer(column) != 0;
  return row.integer(column);
}

Case case_of(const Statement& row, int column) {
  Case asked;
  const Case unset;
  for (const CaseField& field : case_fields()) try {
      field.set(asked, value_of(row, column++, field.get(unset)));
    } catch (const Error& error) {
      throw Error(ExitCode::wrong_data, fmt::format("a stored case cannot be read: {}", error.what()),
                  "the database was edited or damaged; go back to a copy of it");
    }
  return asked;
}

CaseResult result_of(const Statement& row) {
  CaseResult result;
  result.asked = case_of(row, kFirstField);
  result.status = row.text(1) == "done" ? CaseStatus::done : CaseStatus::failed;
  result.failure = row.text(2);
  result.exit_code = small(row, 3);
  result.producer = {.run = row.integer(4), .version = row.text(5), .started_at = row.text(6)};
  result.machine_in_words = row.text(7);
  return result;
}

Sample sample_of(const Statement& row) {
  return {.launch = small(row, 0),
          .rank = small(row, 1),
          .iteration = small(row, 2),
          .warmup = row.integer(3) != 0,
          .metric = row.text(4),
          .value = row.real(5),
          .unit = row.text(6)};
}

/// The pairs of a table of a run's: `environment`, `label`.
using Pairs = std::map<std::string, std::string>;
void insert_pairs(Database& database, std::string_view table, std::int64_t run, const Pairs& pairs) {
  Statement row(database, fmt::format("INSERT INTO {} (run_id, key, value) VALUES (?, ?, ?)", table));
  for (const auto& [key, value] : pairs) row.run(run, key, value);
}

Pairs select_pairs(Database& database, std::string_view table, std::int64_t run) {
  Pairs pairs;
  Statement row(database, fmt::format("SELECT key, value FROM {} WHERE run_id = ?", table));
  row.bind(run);
  while (row.step()) pairs[row.text(0)] = row.text(1);
  return pairs;
}

/// With the labels of each run, but without samples.
std::vector<CaseResult> select_bare(Database& database, Statement& row, std::vector<std::int64_t>& ids) {
  std::vector<CaseResult> results;
  std::map<std::int64_t, Pairs> labels;
  while (row.step()) {
    ids.push_back(row.integer(0));
    CaseResult& result = results.emplace_back(result_of(row));
    const auto [known, is_new] = labels.try_emplace(result.producer.run);
    if (is_new) known->second = select_pairs(database, "label", result.producer.run);
    result.producer.labels = known->second;
  }
  return results;
}

std::vector<CaseResult> select_whole(Database& database, Statement& row, bool with_spans = false) {
  std::vector<std::int64_t> ids;
  std::vector<CaseResult> results = select_bare(database, row, ids);
  Statement sample(database, kSelectSamples);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    sample.bind(ids[i]);
    while (sample.step()) results[i].samples.push_back(sample_of(sample));
    if (with_spans) results[i].traced = select_spans(database, ids[i]);
  }
  return results;
}

/// Of the answers for which `counts` holds. One pass over all: a subquery for each answer to a question that was asked
/// a thousand times reads a thousand rows a thousand times.
std::string newest_of_each_key(const std::string& counts) {
  return fmt::format(
      "one.id IN (SELECT id FROM (SELECT same.id AS id, row_number() OVER (PARTITION BY same.question, same.place "
      "ORDER BY same.status = 'done' DESC, same.run_id IN (SELECT run_id FROM label WHERE key IN ('{}', '{}')), "
      "its.started_at DESC, same.id DESC) AS nth "
      "FROM scaling_case AS same JOIN run AS its ON its.id = same.run_id WHERE {}) WHERE nth = 1)",
      kTuningLabel, kPairLabel, counts);
}

/// A condition on the case `same`.
std::string is_of(Database& database, const RunFilter& filter) {
  if (filter.is_empty()) return "1";
  std::vector<std::int64_t> ids;
  for (const Run& run : select_runs(database))
    if (filter.accepts(run)) ids.push_back(run.id);
  return fmt::format("same.run_id IN ({})", fmt::join(ids, ", "));
}

/// Inserts samples, of which the first gets `seq`. \throws Error (wrong_data) that names `of`.
void insert_samples(Database& database, std::int64_t case_id, std::int64_t seq, const std::vector<Sample>& samples,
                    const std::string& of) {
  Statement row(database,
                "INSERT INTO sample (case_id, seq, launch, rank, iteration, warmup, metric, value, unit) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Sample& sample : samples) {
    // SQLite would store a NaN as NULL.
    if (std::isnan(sample.value))
      throw Error(ExitCode::wrong_data, fmt::format("{} of {}, rank {}, iteration {}, is not a number", sample.metric,
                                                    of, sample.rank, sample.iteration));
    row.run(case_id, seq++, sample.launch, sample.rank, sample.iteration, sample.warmup, sample.metric, sample.value,
            sample.unit);
  }
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

std::int64_t insert(Database& database, const Run& run) {
  Statement(database, "INSERT INTO run (command, version, store, started_at, uuid) VALUES (?, ?, ?, ?, ?)")
      .run(run.command, run.version, kImplementation, run.started_at, run.uuid.empty() ? random_uuid() : run.uuid);
  const std::int64_t id = database.last_row_id();
  insert_pairs(database, "environment", id, run.environment);
  insert_pairs(database, "label", id, run.labels);
  return id;
}

void insert(Database& database, std::int64_t run, const CaseResult& result) {
  const Case& asked = result.asked;
  Statement row_of_case(database, insert_case());
  row_of_case.begin().add(run).add(to_string(result.status)).add(result.failure).add(result.exit_code);
  row_of_case.add(asked.question()).add(asked.place());
  for (const CaseField& field : case_fields())
    std::visit([&](const auto& value) { row_of_case.add(value); }, field.get(asked));
  row_of_case.finish();
  const std::int64_t id = database.last_row_id();
  insert_samples(database, id, 0, result.samples, fmt::format("{} at {} GPUs", asked.workload, asked.gpus));
  insert_spans(database, id, result.traced);
}

void add_samples(Database& database, std::int64_t case_id, const std::vector<Sample>& samples) {
  Statement last(database, "SELECT coalesce(max(seq) + 1, 0) FROM sample WHERE case_id = ?");
  last.bind(case_id);
  insert_samples(database, case_id, last.step() ? last.integer(0) : 0, samples, fmt::format("case {}", case_id));
}

std::vector<Run> select_runs(Database& database) {
  std::vector<Run> runs;
  Statement row(database, "SELECT id, command, version, started_at, uuid FROM run ORDER BY id");
  while (row.step())
    runs.push_back({.command = row.text(1),
                    .version = row.text(2),
                    .started_at = row.text(3),
                    .environment = select_pairs(database, "environment", row.integer(0)),
                    .labels = select_pairs(database, "label", row.integer(0)),
                    .id = row.integer(0),
                    .uuid = row.text(4)});
  return runs;
}

std::set<std::string> select_finished(Database& database) {
  std::set<std::string> keys;
  std::vector<std::int64_t> ids;
  Statement row(database, select_cases("status = 'done'"));
  for (const CaseResult& result : select_bare(database, row, ids))
    keys.insert(answer_key(result.asked, result.producer));
  return keys;
}

std::vector<CaseResult> select_newest(Database& database, const RunFilter& of) {
  Statement row(database, select_cases(newest_of_each_key(is_of(database, of))));
  return select_whole(database, row);
}

std::vector<CaseResult> select_of_run(Database& database, std::int64_t run, bool with_spans) {
  Statement row(database, select_cases("one.run_id = ?"));
  row.bind(run);
  return select_whole(database, row, with_spans);
}

std::vector<CaseResult> select_history(Database& database, const std::string& question, const std::string& place) {
  Statement row(database, select_cases("question = ? AND place = ?", "run.id, one.id"));
  row.bind(question, place);
  return select_whole(database, row);
}

std::vector<CaseResult> select_baselines(Database& database) {
  std::string timed;
  for (const EvidenceKind& kind : kEvidenceKinds)
    if (kind.timed) timed += fmt::format("{}'{}'", timed.empty() ? "" : ", ", kind.name);
  Statement row(database,
                select_cases(fmt::format("status = 'done' AND algorithm = 'none' AND evidence IN ({})", timed)));
  return select_whole(database, row);
}

void complete_cases(Database& database) {
  Statement row(database, select_cases("1"));
  Statement update(database, "UPDATE scaling_case SET question = ?, place = ? WHERE id = ?");
  std::vector<std::int64_t> ids;
  const std::vector<CaseResult> results = select_bare(database, row, ids);
  for (std::size_t i = 0; i < ids.size(); ++i)
    update.run(results[i].asked.question(), results[i].asked.place(), ids[i]);
}

}  // namespace hbench::store
