#include "analysis/store/upkeep.hpp"

#include <fmt/format.h>

#include "analysis/store/store.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::store_prune_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = HBENCH_SOURCE_DIR;

hbench::Run run_of(std::int64_t id, std::string started_at, std::map<std::string, std::string> labels = {}) {
  hbench::Run run{.command = "hbench", .version = "1", .started_at = std::move(started_at), .environment = {}};
  run.labels = std::move(labels);
  run.id = id;
  return run;
}

std::vector<std::int64_t> ids(const std::vector<hbench::Run>& runs) {
  std::vector<std::int64_t> ids;
  for (const hbench::Run& run : runs) ids.push_back(run.id);
  return ids;
}

const std::vector<hbench::Run> kRuns{run_of(1, "2026-01-01T00:00:00Z", {{"branch", "main"}}),
                                     run_of(4, "2026-02-01T00:00:00Z"),
                                     run_of(2, "2026-03-01T00:00:00Z", {{"branch", "main"}, {"gpu", "a"}}),
                                     run_of(3, "2026-04-01T00:00:00Z", {{"branch", "main"}})};

TEST(RunsToPrune, AreAllButTheNewest) {
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.keep = 1})), ElementsAre(1, 4, 2));
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.keep = 3})), ElementsAre(1));
  EXPECT_THAT(runs_to_prune(kRuns, {.keep = 4}), IsEmpty());
  EXPECT_THAT(runs_to_prune(kRuns, {.keep = 400}), IsEmpty());
}

TEST(RunsToPrune, StartedBeforeTheTimeAndAreNotAmongTheNewest) {
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.before = "2026-03-01T00:00:00Z"})), ElementsAre(1, 4));
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.before = "2026-03-01T00:00:01Z"})), ElementsAre(1, 4, 2));
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.before = "2027-01-01T00:00:00Z"})), ElementsAre(1, 4, 2))
      << "never the newest";
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.before = "2027-01-01T00:00:00Z", .keep = 3})), ElementsAre(1));
}

TEST(RunsToPrune, HaveTheLabelsAndTheNewestAreCountedAmongThem) {
  EXPECT_THAT(ids(runs_to_prune(kRuns, {.keep = 1, .labels = {{"branch", "main"}}})), ElementsAre(1, 2));
  EXPECT_THAT(runs_to_prune(kRuns, {.keep = 1, .labels = {{"branch", "main"}, {"gpu", "a"}}}), IsEmpty());
  EXPECT_THAT(runs_to_prune(kRuns, {.keep = 1, .labels = {{"branch", "other"}}}), IsEmpty());
}

TEST(RunsToPrune, AreNotOldWhereTheirStartIsNoTime) {
  for (const char* start : {"", "now", "2026-01-01", "2026-01-01T00:00:00+01", "01.01.2026 at noon U"}) {
    const std::vector<hbench::Run> runs{run_of(1, start), kRuns.back()};
    EXPECT_THAT(runs_to_prune(runs, {.before = "2027-01-01T00:00:00Z"}), IsEmpty()) << start;
    EXPECT_THAT(ids(runs_to_prune(runs, {.keep = 1})), ElementsAre(1)) << start;
  }
}

/// Ten runs of two cases each, a month apart.
void fill(const fs::path& file) {
  Store store(file);
  for (int month = 1; month <= 10; ++month) {
    const std::int64_t run = store.begin_run(run_of(0, fmt::format("2026-{:02}-01T00:00:00Z", month), {{"a", "b"}}));
    for (const int number : {0, 1}) store.append(run, example_result(10 * month + number, 200));
  }
}

TEST(Prune, RemovesWholeRunsAndNothingElse) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  const PruneResult pruned = prune_database(folder / "r.db", {.before = "2026-08-01T00:00:00Z", .keep = 2}, false);
  ASSERT_EQ(pruned.runs.size(), 7u);
  EXPECT_EQ(pruned.runs[0].run.started_at, "2026-01-01T00:00:00Z");
  EXPECT_EQ(pruned.runs[0].cases, 2);
  EXPECT_EQ(pruned.runs[0].samples, 400);
  const Store left(folder / "r.db", Store::Mode::read_only);
  EXPECT_EQ(left.runs().size(), 3u);
  EXPECT_EQ(texts_of(left.results()),
            texts_of({example_result(80, 200), example_result(81, 200), example_result(90, 200),
                      example_result(91, 200), example_result(100, 200), example_result(101, 200)}));
  for (const DatabaseFinding& finding : check_database(folder / "r.db"))
    EXPECT_EQ(finding.severity, Severity::pass) << finding.what;
  EXPECT_THAT(prune_database(folder / "r.db", {.before = "2026-08-01T00:00:00Z"}, false).runs, IsEmpty());
}

TEST(Prune, RemovesWhatWasAcceptedWithItsRun) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  for (const int run : {1, 10})
    Store(folder / "r.db").accept({.run = run, .reason = "wanted", .accepted_at = "2026-11-22T00:00:00Z"});
  prune_database(folder / "r.db", {.keep = 3}, false);
  const std::vector<Acceptance> left = Store(folder / "r.db", Store::Mode::read_only).acceptances();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].run, 10);
}

// The tables and triggers of others are wrong data, and no fault of this program.
TEST(Prune, RefusesADatabaseInWhichOthersReferToItsRuns) {
  for (const char* sql : {"CREATE TABLE notes (run_id INTEGER REFERENCES run (id)); INSERT INTO notes VALUES (1)",
                          "CREATE TRIGGER keep BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'mine'); END",
                          "CREATE TRIGGER lost BEFORE DELETE ON run BEGIN DELETE FROM nowhere; END"}) {
    SCOPED_TRACE(sql);
    const TemporaryFolder folder;
    fill(folder / "r.db");
    run_sql(folder / "r.db", sql);
    expect_error([&] { prune_database(folder / "r.db", {.keep = 3}, false); }, ExitCode::wrong_data, testing::_,
                 testing::_);
    EXPECT_EQ(Store(folder / "r.db", Store::Mode::read_only).runs().size(), 10U) << "all or none";
  }
}

TEST(Prune, OnlySaysWhatWouldGoInADryRun) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  const std::string before = bytes_of(folder / "r.db");
  const PruneResult dry = prune_database(folder / "r.db", {.keep = 3}, true);
  EXPECT_EQ(bytes_of(folder / "r.db"), before);
  EXPECT_EQ(dry.runs.size(), 7u);
  const PruneResult real = prune_database(folder / "r.db", {.keep = 3}, false);
  EXPECT_EQ(real.runs.size(), 7u);
  EXPECT_EQ(dry.bytes, real.bytes);
  // 2,800 of 4,000 samples of at least 40 bytes each.
  EXPECT_GT(real.bytes, 2800 * 40 * 9 / 10);
  EXPECT_LT(real.bytes, static_cast<std::int64_t>(before.size()));
}

TEST(Prune, SaysWhatWouldGoOfAnOlderSchemaWithoutMigratingIt) {
  const TemporaryFolder folder;
  run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_9.sql"));
  const std::string before = bytes_of(folder / "old.db");
  EXPECT_EQ(prune_database(folder / "old.db", {.keep = 1}, true).runs.size(), 5u);
  EXPECT_EQ(bytes_of(folder / "old.db"), before);
  EXPECT_EQ(prune_database(folder / "old.db", {.keep = 1}, false).runs.size(), 5u);
  EXPECT_EQ(Store(folder / "old.db").runs().size(), 1u);
}

TEST(Prune, MakesNoDatabase) {
  const TemporaryFolder folder;
  for (const bool dry_run : {true, false}) EXPECT_THROW(prune_database(folder / "absent.db", {}, dry_run), Error);
  EXPECT_THROW(vacuum_database(folder / "absent.db"), Error);
  EXPECT_FALSE(fs::exists(folder / "absent.db"));
}

TEST(Vacuum, GivesTheSpaceOfPrunedRunsToTheDiskAndKeepsTheRest) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  const PruneResult pruned = prune_database(folder / "r.db", {.keep = 1}, false);
  const std::vector<std::string> left = texts_of(Store(folder / "r.db").results());
  EXPECT_EQ(left.size(), 2u);
  const std::uintmax_t size = fs::file_size(folder / "r.db");
  const VacuumResult result = vacuum_database(folder / "r.db");
  EXPECT_EQ(result.before, size);
  EXPECT_EQ(result.after, fs::file_size(folder / "r.db"));
  EXPECT_GE(static_cast<std::int64_t>(result.before - result.after), pruned.bytes);
  EXPECT_EQ(texts_of(Store(folder / "r.db").results()), left);
  const VacuumResult again = vacuum_database(folder / "r.db");
  EXPECT_EQ(again.before, again.after);
}

}  // namespace
}  // namespace hbench::store_prune_test
