#include "analysis/store/prune.hpp"

#include <algorithm>

#include "analysis/store/open.hpp"
#include "analysis/store/rows.hpp"
#include "analysis/store/run_rows.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using store::Database;
using store::Transaction;

std::int64_t free_bytes(Database& database) {
  return database.integer("PRAGMA freelist_count") * database.integer("PRAGMA page_size");
}

}  // namespace

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
