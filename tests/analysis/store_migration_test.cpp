#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "analysis/records/case_fields.hpp"
#include "analysis/store/open.hpp"
#include "analysis/store/store.hpp"
#include "analysis/store/uuid.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "frozen_schemas.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::store_migration_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using store::Database;
using store::Migration;

const fs::path kSource = HBENCH_SOURCE_DIR;

/// A history of a schema: a table, a column, a value.
constexpr std::array kChain{Migration{1, "CREATE TABLE t (a); INSERT INTO t VALUES (10);"},
                            Migration{2, "ALTER TABLE t ADD COLUMN b DEFAULT 5;"},
                            Migration{3, "UPDATE t SET b = a + b;"}};
constexpr std::span<const Migration> kSteps = kChain;

std::int64_t sum(Database& database) { return database.integer("SELECT a + b FROM t"); }

TEST(Migrations, Ascend) {
  int version = 0;
  for (const Migration& step : store::migrations()) EXPECT_GT(step.version, std::exchange(version, step.version));
  EXPECT_EQ(version, 16);
}

TEST(Migration, LeadsFromEveryVersionToTheLast) {
  for (std::size_t begin = 0; begin <= kSteps.size(); ++begin) {
    const TemporaryFolder folder;
    if (begin > 0) store::open_for_writing(folder / "x.db", milliseconds(0), kSteps.first(begin));
    Database database = store::open_for_writing(folder / "x.db", milliseconds(0), kSteps);
    EXPECT_EQ(store::schema_version(database), 3);
    EXPECT_EQ(sum(database), 25) << "from version " << begin;
  }
}

TEST(Migration, FinishesOnceOnTheLastSchema) {
  constexpr auto kFinish = [](Database& database) { database.run("UPDATE t SET c = c + a + b"); };
  const std::array chain{Migration{1, kChain[0].sql}, Migration{2, kChain[1].sql, kFinish},
                         Migration{3, "ALTER TABLE t ADD COLUMN c DEFAULT 0;", kFinish}};
  const TemporaryFolder folder;
  store::open_for_writing(folder / "x.db", milliseconds(0), std::span<const Migration>(chain).first(1));
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), chain);
  EXPECT_EQ(database.integer("SELECT c FROM t"), 15);
}

TEST(Migration, HappensInMemoryForAReader) {
  const TemporaryFolder folder;
  store::open_for_writing(folder / "x.db", milliseconds(0), kSteps.first(1));
  const std::string before = bytes_of(folder / "x.db");
  Database database = store::open_for_reading(folder / "x.db", milliseconds(0), kSteps);
  EXPECT_EQ(sum(database), 25);
  EXPECT_EQ(bytes_of(folder / "x.db"), before);
}

TEST(Migration, ThatFailsLeavesTheOldSchemaWhole) {
  const TemporaryFolder folder;
  store::open_for_writing(folder / "x.db", milliseconds(0), kSteps.first(1));
  const std::string before = bytes_of(folder / "x.db");
  const std::array broken{kChain[0], kChain[1], Migration{3, "DELETE FROM t; INSERT INTO nowhere VALUES (1);"}};
  EXPECT_THROW(store::open_for_writing(folder / "x.db", milliseconds(0), broken), Error);
  EXPECT_EQ(bytes_of(folder / "x.db"), before);
}

TEST(Migration, IsNotRepeatedByAProcessThatWaitedForAnother) {
  const TemporaryFolder folder;
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), kSteps);
  store::migrate(database, kSteps);
  EXPECT_EQ(database.integer("SELECT count(*) FROM t"), 1);
}

/// The one answer of `workload` by `algorithm` with this evidence.
CaseResult answer_of(const std::vector<CaseResult>& results, Evidence evidence, std::string_view workload,
                     std::string_view algorithm) {
  CaseResult found;
  int answers = 0;
  for (const CaseResult& result : results) {
    const Case& asked = result.asked;
    if (asked.evidence != evidence || asked.workload != workload || asked.strategy.algorithm != algorithm) continue;
    found = result;
    ++answers;
  }
  EXPECT_EQ(answers, 1) << to_string(evidence) << ' ' << workload << ' ' << algorithm;
  return found;
}

// Made by hbench 0.1.0 (schema version 9) and dumped with sqlite3; never to be changed.
TEST(ADatabaseOfTheFirstRelease, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_9.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 9u);
    for (const CaseResult& result : results) {
      EXPECT_EQ(result.asked.accumulate, 0);
      EXPECT_EQ(result.asked.global_batch, 0);
      EXPECT_EQ(result.asked.strategy.method, "");
      EXPECT_EQ(result.asked.training.optimizer, "");
    }
    const CaseResult ring = answer_of(results, Evidence::measured, "lenet5", "ring");
    EXPECT_EQ(old.history(ring.asked.question(), ring.asked.place()).size(), 2u);
    EXPECT_EQ(old.runs().back().uuid, "7d3c1a52-58f0-4c63-9a1e-5d0a2f4be811");
    ASSERT_EQ(old.acceptances().size(), 1u);
    EXPECT_EQ(old.acceptances().front().reason, "a newer kernel");
    ASSERT_EQ(old.frozen().size(), 1u);
    EXPECT_EQ(old.frozen().front().name, "release");
    EXPECT_EQ(old.judgements(3).size(), 1u);
  }
}

TEST(ADatabaseOfNoRelease, IsRefusedByItsVersionAndLeftAsItIs) {
  const TemporaryFolder folder;
  run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_9.sql"));
  run_sql(folder / "old.db", "PRAGMA user_version = 12");
  const std::string before = bytes_of(folder / "old.db");
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write})
    expect_error([&] { Store(folder / "old.db", mode); }, ExitCode::usage,
                 HasSubstr("schema version 12, which no release of hbench had"),
                 "hbench export with the program that wrote it, or measure again into another file");
  EXPECT_EQ(bytes_of(folder / "old.db"), before);
}

TEST(AMigratedDatabase, KeepsItsReferencesWhole) {
  for (const std::string& version : frozen_schemas()) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data" / version));
    Database database = store::open_for_writing(folder / "old.db", milliseconds(0), store::migrations());
    store::Statement violation(database, "PRAGMA foreign_key_check");
    EXPECT_FALSE(violation.step()) << version;
    EXPECT_EQ(database.integer("PRAGMA foreign_keys"), 1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM scaling_case WHERE question = '' OR place = ''"), 0) << version;
  }
}

TEST(TheFieldsOfACase, AreColumnsSinceTheVersionThatTheListNames) {
  // The steps alone: what finishes them knows the last schema only.
  std::vector<Migration> steps;
  for (const Migration& step : store::migrations()) {
    steps.push_back({step.version, step.sql});
    const int version = step.version;
    const TemporaryFolder folder;
    Database database = store::open_for_writing(folder / "x.db", milliseconds(0), steps);
    std::set<std::string> columns, expected{"id", "run_id", "status", "failure", "exit_code", "question", "place"};
    store::Statement row(database, "SELECT name FROM pragma_table_info('scaling_case')");
    while (row.step()) columns.insert(row.text(0));
    for (const CaseField& field : case_fields())
      if (field.since <= version) expected.insert(std::string(field.name));
    EXPECT_EQ(columns, expected) << "version " << version;
  }
}

/// The list as a table of Markdown.
std::string case_fields_table() {
  constexpr std::array<std::string_view, 4> kTypes{"TEXT", "INTEGER", "REAL", "INTEGER"};
  std::string table = "| column | type | part | since | |\n|---|---|---|---|---|\n";
  for (const CaseField& field : case_fields())
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, kTypes.at(field.get(Case()).index()),
                         to_string(field.part), field.since, field.text);
  return table;
}

TEST(TheFieldsOfACase, AreDocumented) {
  EXPECT_THAT(bytes_of(kSource / "analysis/store/fields.md"), HasSubstr(case_fields_table()));
}

/// The text between the lines that begin and end the documented schema.
std::string documented_schema() {
  const std::string readme = bytes_of(kSource / "analysis/store/README.md");
  const std::string begin = "<!-- schema -->\n```sql\n";
  const std::size_t from = readme.find(begin);
  const std::size_t to = readme.find("```\n<!-- /schema -->");
  EXPECT_NE(from, std::string::npos);
  EXPECT_NE(to, std::string::npos);
  return readme.substr(from + begin.size(), to - from - begin.size());
}

/// The statement that makes a table; of cases without the columns of fields, which another page documents, and of a
/// view its name alone.
std::string without_fields(const std::string& sql) {
  if (sql.starts_with("CREATE VIEW")) return sql.substr(0, sql.find('\n')) + " -- migrations/0015_training.sql";
  if (!sql.starts_with("CREATE TABLE scaling_case")) return sql;
  return sql.substr(0, sql.find(fmt::format("  {} ", case_fields().front().name))) +
         "  -- and a column for each field of a case\n)";
}

TEST(TheDocumentedSchema, IsTheRealOne) {
  const TemporaryFolder folder;
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), store::migrations());
  std::string real;
  store::Statement row(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid");
  while (row.step()) real += without_fields(row.text(0)) + ";\n";
  std::string documented = documented_schema();
  for (std::size_t blank; (blank = documented.find("\n\n")) != std::string::npos;) documented.erase(blank, 1);
  EXPECT_EQ(documented, real);
}

TEST(TheDocumentedSchema, NamesTheApplication) {
  const std::string readme = bytes_of(kSource / "analysis/store/README.md");
  EXPECT_THAT(readme, HasSubstr(fmt::format("application_id` = {}", store::kApplicationId)));
}

}  // namespace
}  // namespace hbench::store_migration_test
