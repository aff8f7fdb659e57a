#include "analysis/store/merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/store/open.hpp"
#include "analysis/store/rows.hpp"
#include "analysis/store/run_rows.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using store::Database;
using store::RunSize;
using store::Transaction;

/// Those of the run `from` which `into` lacks of the run `to`: a run may be accepted after it was merged.
void merge_acceptances(const std::vector<Acceptance>& accepted, std::int64_t from, Database& into, std::int64_t to) {
  const std::vector<Acceptance> known = store::select_acceptances(into);
  for (Acceptance each : accepted) {
    if (each.run != from) continue;
    each.run = to;
    if (std::ranges::find(known, each) == known.end()) store::insert_acceptance(into, each);
  }
}

/// One run, in a transaction of its own.
void merge_run(Database& from, const Run& run, const std::vector<Acceptance>& accepted, Database& into,
               MergeResult& result) {
  // One moment of this run, which another process may be writing. Not of all runs: that would keep the writer waiting.
  Transaction snapshot(from, Transaction::Kind::read);
  const RunSize size = store::size_of_run(from, run.id);
  Transaction transaction(into, Transaction::Kind::write);
  const std::optional<std::int64_t> there = store::find_run(into, run.uuid);
  const RunSize before = there ? store::size_of_run(into, *there) : RunSize();
  if (there && size.cases <= before.cases && size.samples <= before.samples) {
    merge_acceptances(accepted, run.id, into, *there);
    transaction.commit();
    ++result.known;
    return;
  }
  if (there) store::remove_cases(into, *there);
  const std::int64_t id = there ? *there : store::insert(into, run);
  for (const CaseResult& each : store::select_of_run(from, run.id)) store::insert(into, id, each);
  merge_acceptances(accepted, run.id, into, id);
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
  const std::vector<Acceptance> accepted = store::select_acceptances(source);
  for (const Run& run : store::select_runs(source)) merge_run(source, run, accepted, target, result);
  return result;
}

}  // namespace hbench
