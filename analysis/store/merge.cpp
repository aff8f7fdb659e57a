#include "analysis/store/merge.hpp"

#include <fmt/format.h>

#include "analysis/points/plausible.hpp"
#include "analysis/store/open.hpp"
#include "analysis/store/rows.hpp"
#include "analysis/store/run_rows.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using store::Database;
using store::RunSize;
using store::Transaction;

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

}  // namespace

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

}  // namespace hbench
