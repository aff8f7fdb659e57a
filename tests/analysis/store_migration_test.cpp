#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

#include "analysis/store/migrate.hpp"
#include "analysis/store/open.hpp"
#include "analysis/store/store.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "temporary_folder.hpp"

namespace hbench {
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

TEST(Migrations, AreNumberedWithoutAGap) {
  int version = 0;
  for (const Migration& step : store::migrations()) EXPECT_EQ(step.version, ++version);
  EXPECT_GT(version, 0);
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

// Made by the store of schema version 1 and dumped with sqlite3; never to be changed.
TEST(ADatabaseOfVersion1, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_1.sql"));
    const Store old(folder / "old.db", mode);
    CaseResult failed = example_result(2, 0);
    failed.status = CaseStatus::failed;
    failed.failure = "rank 3 was lost";
    failed.exit_code = 5;
    EXPECT_EQ(texts_of(old.results()), (std::vector{text_of(example_result(1, 4)), text_of(failed)}));
    ASSERT_EQ(old.runs().size(), 1u);
    EXPECT_EQ(old.runs()[0].command, "hbench sweep");
    EXPECT_EQ(old.runs()[0].environment, (std::map<std::string, std::string>{{"cores", "2"}, {"cpu", "some CPU"}}));
  }
}

// The same of schema version 2.
TEST(ADatabaseOfVersion2, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_2.sql"));
    const Store old(folder / "old.db", mode);
    ASSERT_EQ(old.results().size(), 1u);
    const CaseResult result = old.results().front();
    EXPECT_EQ(
        result.asked.collective,
        (CollectiveTask{
            .name = "all-reduce", .bytes = 1024, .data_type = "float32", .operation = "sum", .executor = "threads"}));
    EXPECT_EQ(result.asked.training, TrainingTask());
    EXPECT_EQ(old.finished_keys(), std::set{result.asked.key()});
    EXPECT_EQ(result.samples.size(), 3u);
    EXPECT_EQ(old.runs().at(0).command, "hbench collective");
  }
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

TEST(TheDocumentedSchema, IsTheRealOne) {
  const TemporaryFolder folder;
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), store::migrations());
  std::string real;
  store::Statement row(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid");
  while (row.step()) real += row.text(0) + ";\n";
  std::string documented = documented_schema();
  for (std::size_t blank; (blank = documented.find("\n\n")) != std::string::npos;) documented.erase(blank, 1);
  EXPECT_EQ(documented, real);
}

TEST(TheDocumentedSchema, NamesTheApplicationAndTheVersion) {
  const std::string readme = bytes_of(kSource / "analysis/store/README.md");
  EXPECT_THAT(readme, testing::HasSubstr(fmt::format("application_id` = {}", store::kApplicationId)));
  EXPECT_THAT(readme, testing::HasSubstr(fmt::format("user_version` = {}", store::migrations().back().version)));
}

}  // namespace
}  // namespace hbench
