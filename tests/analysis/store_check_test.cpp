#include "analysis/store/upkeep.hpp"

#include <map>

#include "collectives/base/error.hpp"
#include "frozen_schemas.hpp"
#include "store_cases.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::store_check_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = HBENCH_SOURCE_DIR;

/// Of samples that are no zeros.
void fill(const fs::path& file) { hbench::fill(file, 3, 50, 1); }

/// What the checks that are not good say, by their names.
std::map<std::string, std::pair<Severity, std::string>> complaints(const fs::path& file) {
  std::map<std::string, std::pair<Severity, std::string>> found;
  for (const DatabaseFinding& finding : check_database(file))
    if (finding.severity != Severity::pass) found[finding.check] = {finding.severity, finding.what};
  return found;
}

TEST(DatabaseCheck, FindsNothingInADatabaseThatHbenchWrote) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  const std::string before = bytes_of(folder / "r.db");
  std::vector<std::string> checks;
  for (const DatabaseFinding& finding : check_database(folder / "r.db")) {
    checks.push_back(finding.check);
    EXPECT_EQ(finding.severity, Severity::pass) << finding.check << ": " << finding.what;
  }
  EXPECT_THAT(checks, ElementsAre("integrity", "references", "schema", "journal", "samples", "values", "runs",
                                  "identity", "plausibility"));
  EXPECT_EQ(bytes_of(folder / "r.db"), before);
}

/// What somebody did to the file, and which check says what of it.
struct Damage {
  const char* sql;
  const char* check;
  Severity health;
  const char* what;
};
std::ostream& operator<<(std::ostream& out, const Damage& damage) { return out << damage.sql; }

class DatabaseCheckAfter : public testing::TestWithParam<Damage> {};

TEST_P(DatabaseCheckAfter, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  run_sql(folder / "r.db", GetParam().sql);
  const auto found = complaints(folder / "r.db");
  ASSERT_TRUE(found.contains(GetParam().check));
  EXPECT_EQ(found.size(), 1u) << "and nothing else";
  EXPECT_EQ(found.at(GetParam().check).first, GetParam().health);
  EXPECT_THAT(found.at(GetParam().check).second, HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    All, DatabaseCheckAfter,
    testing::Values(
        Damage{"DELETE FROM sample WHERE case_id = 2", "plausibility", Severity::error, "no timed sample"},
        Damage{"UPDATE sample SET value = 'NaN' WHERE case_id = 3 AND seq = 1", "values", Severity::error,
               "sample.case_id 3"},
        Damage{"DELETE FROM scaling_case WHERE id = 1", "references", Severity::error, "50 rows"},
        Damage{
            "INSERT INTO run VALUES (9, 'c', 'v', 's', '2026-01-01T00:00:00Z', '01234567-89ab-4cde-8f01-23456789abcd')",
            "runs", Severity::note, "2 runs, of which some have no cases: 9"},
        Damage{"UPDATE run SET uuid = 'x'", "identity", Severity::error, "cannot be merged: 1"},
        Damage{"PRAGMA journal_mode = WAL", "journal", Severity::note, "write-ahead log"},
        Damage{"INSERT INTO span VALUES (2, 0, 0, 0, 0, 0, 0, 0, 0, -1)", "plausibility", Severity::error,
               "a span of case 2 has a time of 0 ns"},
        Damage{"INSERT INTO judgement VALUES (4, 1, '', '1', '', 'all')", "plausibility", Severity::error,
               "written: 4"},
        Damage{"INSERT INTO judgement VALUES (4, 1, '', '1', '', '[]')", "plausibility", Severity::error, "written: 4"},
        Damage{"INSERT INTO judgement VALUES (4, 1, '', '1', '', '{}');"
               "INSERT INTO verdict VALUES (1, 4, '', 'pass', '', 5, 1, 2, 1e999, 0, 0, 1, 1)",
               "plausibility", Severity::error, "written: 4"}));

TEST(DatabaseCheck, AllowsVerdictsThatComparedNothing) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  run_sql(folder / "r.db",
          "INSERT INTO judgement VALUES (4, 1, '', '1', '', '{}');"
          "INSERT INTO verdict (judgement_id, question, verdict, reason, launches) VALUES (4, '', 'new', '', 5)");
  EXPECT_TRUE(complaints(folder / "r.db").empty());
}

TEST(DatabaseCheck, AllowsFailedCasesWithoutSamples) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  CaseResult failed = example_result(9, 0);
  failed.status = CaseStatus::failed;
  Store(folder / "r.db").append(1, failed);
  EXPECT_TRUE(complaints(folder / "r.db").empty());
}

TEST(DatabaseCheck, NotesAnOlderSchemaAndLeavesItAsItIs) {
  for (const std::string& version : frozen_schemas()) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data" / version));
    const std::string before = bytes_of(folder / "old.db");
    const auto found = complaints(folder / "old.db");
    ASSERT_TRUE(found.contains("schema")) << version;
    EXPECT_EQ(found.size(), 1u) << version;
    EXPECT_EQ(found.at("schema").first, Severity::note);
    EXPECT_THAT(found.at("schema").second, HasSubstr("version " + version.substr(8, version.find('.') - 8)));
    EXPECT_EQ(bytes_of(folder / "old.db"), before);
  }
}

TEST(DatabaseCheck, SaysOnlyWhatSqliteFindsInADamagedFile) {
  const TemporaryFolder folder;
  fill(folder / "r.db");
  std::string bytes = bytes_of(folder / "r.db");
  // The page of an index or table: its type is a number that there is not.
  int found = 0;
  for (std::size_t page = 4096; page < bytes.size(); page += 4096) {
    std::string hurt = bytes;
    hurt[page] = 77;
    write_bytes(folder / "hurt.db", hurt);
    const std::vector<DatabaseFinding> findings = check_database(folder / "hurt.db");
    if (findings.front().severity == Severity::pass) continue;
    ++found;
    for (const DatabaseFinding& finding : findings) {
      EXPECT_EQ(finding.check, "integrity");
      EXPECT_EQ(finding.severity, Severity::error);
      EXPECT_EQ(finding.what.find('\n'), std::string::npos);
    }
    EXPECT_THAT(findings.back().what, HasSubstr(".recover"));
  }
  EXPECT_GT(found, 5);
}

}  // namespace
}  // namespace hbench::store_check_test
