#include "analysis/store/upkeep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/points/plausible.hpp"
#include "analysis/store/open.hpp"
#include "analysis/store/rows.hpp"
#include "analysis/store/run_rows.hpp"
#include "analysis/store/uuid.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using store::Database;
using store::RunSize;
using store::Statement;
using store::Transaction;

using Findings = std::vector<DatabaseFinding>;

/// The first of many: enough to look at.
constexpr int kShown = 5;

Findings check_integrity(Database& database) {
  Findings findings;
  try {
    Statement row(database, fmt::format("PRAGMA integrity_check({})", kShown));
    while (row.step())
      if (row.text(0) != "ok") findings.push_back({"integrity", Severity::error, one_line(row.text(0))});
  } catch (const Error& error) {
    if (error.code() != ExitCode::wrong_data) throw;
    findings.push_back({"integrity", Severity::error, error.what()});
  }
  if (findings.empty()) return {{"integrity", Severity::pass, "SQLite finds no damage"}};
  findings.back().what +=
      fmt::format("; save what can be read: sqlite3 '{}' .recover | sqlite3 recovered.db", database.file());
  return findings;
}

DatabaseFinding check_references(Database& database) {
  const std::int64_t count = database.integer("SELECT count(*) FROM pragma_foreign_key_check");
  if (count == 0) return {"references", Severity::pass, "every sample has its case, and every case its run"};
  return {"references", Severity::error,
          fmt::format("{} rows refer to rows that are gone, the first in table {}: another program has removed these",
                      count, database.text("SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1"))};
}

DatabaseFinding check_schema(Database& database) {
  const int version = store::schema_version(database), newest = store::migrations().back().version;
  if (version == newest) return {"schema", Severity::pass, fmt::format("version {}, the newest", version)};
  return {"schema", Severity::note,
          fmt::format("version {}; hbench reads it, and migrates it to {} when it next writes", version, newest)};
}

DatabaseFinding check_journal(Database& database) {
  const std::int64_t type = store::file_system_type(database.file());
  const std::string_view network = store::network_file_system(type);
  const std::string where = network.empty() ? "" : fmt::format(", on {}", network);
  if (database.text("PRAGMA journal_mode") != "wal")
    return {"journal", Severity::pass, fmt::format("a rollback journal{}", where)};
  if (store::wal_works_on(type))
    return {"journal", Severity::note, "a write-ahead log, by another program; hbench changes it when it next writes"};
  return {"journal", Severity::note,
          fmt::format("a write-ahead log{}, where it is not safe on several machines; change it while nobody uses the "
                      "file: sqlite3 '{}' 'PRAGMA journal_mode = DELETE'",
                      where, database.file())};
}

/// The numbers that a query gives, as `3, 9, 12 ...`.
std::string listed(Database& database, std::string_view sql) {
  std::vector<std::int64_t> numbers;
  Statement row(database, fmt::format("{} LIMIT {}", sql, kShown + 1));
  while (row.step()) numbers.push_back(row.integer(0));
  const bool more = numbers.size() > kShown;
  if (more) numbers.pop_back();
  return fmt::format("{}{}", fmt::join(numbers, ", "), more ? " ..." : "");
}

DatabaseFinding check_samples(Database& database) {
  return {"samples", Severity::pass,
          fmt::format("{} cases, {} samples", database.integer("SELECT count(*) FROM scaling_case"),
                      database.integer("SELECT count(*) FROM sample"))};
}

DatabaseFinding check_values(Database& database) {
  const std::string bad =
      listed(database, "SELECT DISTINCT case_id FROM sample WHERE typeof(value) != 'real' ORDER BY case_id");
  if (bad.empty()) return {"values", Severity::pass, "every value is a number"};
  return {"values", Severity::error, fmt::format("values that are no numbers: sample.case_id {}", bad)};
}

/// What is wrong with the first spans that cannot be read.
std::vector<std::string> faults_of_spans(Database& database) {
  std::vector<std::string> faults;
  Statement row(database, "SELECT DISTINCT case_id FROM span ORDER BY case_id");
  while (std::ssize(faults) < kShown && row.step()) try {
      store::select_spans(database, row.integer(0));
    } catch (const Error& error) {
      if (error.code() != ExitCode::wrong_data) throw;
      faults.emplace_back(error.what());
    }
  return faults;
}

/// The judgements whose figures are not finite, or whose rule is no object.
std::string bad_judgements(Database& database) {
  return listed(database,
                "SELECT id FROM judgement WHERE CASE WHEN json_valid(rule) THEN json_type(rule) != 'object' ELSE 1 END "
                "OR id IN (SELECT judgement_id FROM verdict WHERE NOT coalesce(max(abs(before), abs(after), "
                "abs(shift), abs(shift_low), abs(shift_high), abs(p), abs(p_corrected)) < 1e308, 1)) ORDER BY id");
}

/// The first runs and cases that are `implausible`, spans that cannot be read, and judgements. \pre the schema is the
/// newest
Findings check_plausibility(Database& database) {
  Findings findings;
  const auto add = [&](const std::string& fault) {
    if (!fault.empty() && std::ssize(findings) < kShown)
      findings.push_back({"plausibility", Severity::error, one_line(fault)});
  };
  for (const Run& run : store::select_runs(database)) {
    add(implausible(run));
    for (const CaseResult& result : store::select_of_run(database, run.id)) add(implausible(result));
    if (std::ssize(findings) == kShown) break;
  }
  for (std::string& fault : faults_of_spans(database)) add(std::move(fault));
  if (const std::string bad = bad_judgements(database); !bad.empty())
    add(fmt::format("judgements that no check can have written: {}", bad));
  if (findings.empty())
    findings.push_back({"plausibility", Severity::pass, "every case that is done has figures that a run can have"});
  return findings;
}

DatabaseFinding check_runs(Database& database) {
  const std::int64_t runs = database.integer("SELECT count(*) FROM run");
  const std::string empty =
      listed(database, "SELECT id FROM run WHERE id NOT IN (SELECT run_id FROM scaling_case) ORDER BY id");
  if (empty.empty()) return {"runs", Severity::pass, fmt::format("{} runs, each with cases", runs)};
  return {"runs", Severity::note,
          fmt::format("{} runs, of which some have no cases: {} (interrupted, or still running)", runs, empty)};
}

DatabaseFinding check_identity(Database& database) {
  std::vector<std::int64_t> nameless;
  Statement row(database, "SELECT id, uuid FROM run ORDER BY id");
  while (row.step())
    if (!store::is_uuid(row.text(1))) nameless.push_back(row.integer(0));
  if (nameless.empty()) return {"identity", Severity::pass, "every run has its UUID"};
  return {"identity", Severity::error,
          fmt::format("runs without a UUID, which cannot be merged: {}", fmt::join(nameless, ", "))};
}

/// \throws Error (wrong_data) for what no run can have stored.
void check_run(const Run& run, const std::vector<CaseResult>& cases, const std::string& file) {
  std::string fault = implausible(run);
  for (auto each = cases.begin(); fault.empty() && each != cases.end(); ++each) fault = implausible(*each);
  if (!fault.empty())
    throw Error(ExitCode::wrong_data, fmt::format("'{}': {}", file, fault),
                fmt::format("runs before it are merged; hbench db check --db '{}' names what is wrong", file));
}

/// One run, in a transaction of its own.
void merge_run(Database& from, const Run& run, Database& into, MergeResult& result) {
  // Reads one state of this run, which another process may be writing. Not one state of all runs: that would keep the
  // writer waiting.
  Transaction snapshot(from, Transaction::Kind::read);
  const RunSize size = store::size_of_run(from, run.id);
  Transaction transaction(into, Transaction::Kind::write);
  const std::optional<std::int64_t> there = store::find_run(into, run.uuid);
  const RunSize before = there ? store::size_of_run(into, *there) : RunSize();
  if (there && size.cases <= before.cases && size.samples <= before.samples) {
    store::merge_words(from, run.id, into, *there);
    transaction.commit();
    ++result.known;
    return;
  }
  const std::vector<CaseResult> cases = store::select_of_run(from, run.id, true);
  check_run(run, cases, from.file());
  if (there) store::remove_cases(into, *there);
  const std::int64_t id = there ? *there : store::insert(into, run);
  for (const CaseResult& each : cases) store::insert(into, id, each);
  store::merge_words(from, run.id, into, id);
  transaction.commit();
  ++(there ? result.grown : result.added);
  result.cases += size.cases - before.cases;
  result.samples += size.samples - before.samples;
}

std::int64_t free_bytes(Database& database) {
  return database.integer("PRAGMA freelist_count") * database.integer("PRAGMA page_size");
}

}  // namespace

std::vector<DatabaseFinding> check_database(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  Database database = store::open_as_it_is(file, patience, store::migrations());
  Findings findings = check_integrity(database);
  if (findings.front().severity == Severity::error) return findings;
  for (const auto check : {check_references, check_schema, check_journal, check_samples, check_values, check_runs})
    findings.push_back(check(database));
  constexpr int kFirstWithUuids = 7;
  if (store::schema_version(database) >= kFirstWithUuids) findings.push_back(check_identity(database));
  if (std::ranges::any_of(findings, [](const auto& each) { return each.severity == Severity::error; })) return findings;
  Database newest = store::open_for_reading(file, patience, store::migrations());
  std::ranges::move(check_plausibility(newest), std::back_inserter(findings));
  return findings;
}

MergeResult merge_database(const std::filesystem::path& from, const std::filesystem::path& into,
                           std::chrono::milliseconds patience) {
  std::error_code ignored;
  if (std::filesystem::equivalent(from, into, ignored))
    throw Error(ExitCode::usage, fmt::format("'{}' and '{}' are one database", from.string(), into.string()),
                "name another one to take runs from; --db names the one that gets them");
  Database source = store::open_for_reading(from, patience, store::migrations());
  store::check_health(source);
  Database target = store::open_for_writing(into, patience, store::migrations());
  MergeResult result;
  for (const Run& run : store::select_runs(source)) merge_run(source, run, target, result);
  return result;
}

std::vector<Run> runs_to_prune(const std::vector<Run>& runs, const PruneRule& rule) {
  std::vector<Run> candidates;
  for (const Run& run : runs)
    if (RunFilter{.labels = rule.labels}.accepts(run)) candidates.push_back(run);
  candidates.resize(candidates.size() - std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(rule.keep)));
  if (!rule.before.empty())
    std::erase_if(candidates,
                  [&](const Run& run) { return !is_utc_time(run.started_at) || run.started_at >= rule.before; });
  return candidates;
}

PruneResult prune_database(const std::filesystem::path& file, const PruneRule& rule, bool dry_run,
                           std::chrono::milliseconds patience) {
  Database database = dry_run ? store::open_copy(file, patience, store::migrations())
                              : store::open_for_writing(file, patience, store::migrations(), true);
  Transaction transaction(database, Transaction::Kind::write);
  store::check_health(database);
  PruneResult result;
  const std::int64_t before = free_bytes(database);
  for (const Run& run : runs_to_prune(store::select_runs(database), rule)) {
    const store::RunSize size = store::size_of_run(database, run.id);
    result.runs.push_back({.run = run, .cases = size.cases, .samples = size.samples});
    store::remove_run(database, run.id);
  }
  result.bytes = free_bytes(database) - before;
  transaction.commit();
  return result;
}

VacuumResult vacuum_database(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  Database database = store::open_for_writing(file, patience, store::migrations(), true);
  store::check_health(database);
  const std::uintmax_t before = std::filesystem::file_size(file);
  database.run("VACUUM");
  return {.before = before, .after = std::filesystem::file_size(file)};
}

}  // namespace hbench
