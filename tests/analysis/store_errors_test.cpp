#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <functional>

#include "analysis/statistics/statistics.hpp"
#include "analysis/store/open.hpp"
#include "analysis/store/upkeep.hpp"
#include "collectives/base/error.hpp"
#include "store_cases.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::store_errors_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr auto kModes = {Store::Mode::read_write, Store::Mode::read_only};

/// `<exit code>: <message>`; every such error must say how to cure it.
std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return fmt::format("{}: {}", static_cast<int>(error.code()), error.what());
  }
  return "no error";
}

std::string error_of_opening(const fs::path& file, Store::Mode mode) {
  return error_of([&] { Store(file, mode, milliseconds(0)).results(); });
}

TEST(StoreErrors, NameAFileThatDoesNotExist) {
  const TemporaryFolder folder;
  const fs::path file = folder / "absent.db";
  EXPECT_EQ(error_of_opening(file, Store::Mode::read_only), "2: there is no results database '" + file.string() + "'");
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(error_of_opening(folder / "absent/x.db", Store::Mode::read_write),
            "2: there is no folder '" + (folder / "absent").string() + "' for 'x.db'");
  for (auto mode : kModes)
    EXPECT_EQ(error_of_opening(folder.path(), mode), "2: '" + folder.path().string() + "' is a folder");
}

TEST(StoreErrors, NameAFileThatIsNoDatabaseAndLeaveItAsItIs) {
  const TemporaryFolder folder;
  const std::string text(3000, 'x');
  write_bytes(folder / "notes.txt", text);
  for (auto mode : kModes)
    EXPECT_EQ(error_of_opening(folder / "notes.txt", mode),
              "2: '" + (folder / "notes.txt").string() + "' is no hbench results database");
  EXPECT_EQ(bytes_of(folder / "notes.txt"), text);
}

TEST(StoreErrors, NameADatabaseOfAnotherProgramAndLeaveItAsItIs) {
  for (const char* sql : {"CREATE TABLE photos (id)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"}) {
    const TemporaryFolder folder;
    run_sql(folder / "other.db", sql);
    const std::string before = bytes_of(folder / "other.db");
    for (auto mode : kModes)
      EXPECT_EQ(error_of_opening(folder / "other.db", mode),
                "2: '" + (folder / "other.db").string() + "' is a database of another program");
    EXPECT_EQ(bytes_of(folder / "other.db"), before);
  }
}

TEST(StoreErrors, NameBothVersionsOfANewerSchema) {
  const TemporaryFolder folder;
  fill(folder / "new.db", 1, 1);
  run_sql(folder / "new.db", "PRAGMA user_version = 99");
  for (auto mode : kModes)
    EXPECT_EQ(error_of_opening(folder / "new.db", mode),
              fmt::format("2: '{}' has schema version 99; this hbench knows versions up to {}",
                          (folder / "new.db").string(), store::migrations().back().version));
}

// What a writer leaves that was ended before it had written anything.
TEST(StoreErrors, AreNoneForAnEmptyFileWhichIsANewDatabase) {
  const TemporaryFolder folder;
  write_bytes(folder / "empty.db", "");
  EXPECT_TRUE(Store(folder / "empty.db", Store::Mode::read_only).runs().empty());
  EXPECT_EQ(bytes_of(folder / "empty.db"), "");
  for (const DatabaseFinding& finding : check_database(folder / "empty.db"))
    EXPECT_EQ(finding.severity, Severity::pass) << finding.what;
  EXPECT_EQ(error_of_opening(folder / "empty.db", Store::Mode::read_write), "no error");
}

TEST(StoreErrors, AreNoneForSeveralFirstWritersAtOnce) {
  for (int round = 0; round < 5; ++round) {
    const TemporaryFolder folder;
    std::vector<std::string> ends(8);
    std::vector<std::thread> writers;
    for (std::size_t i = 0; i < ends.size(); ++i)
      writers.emplace_back([&, i] {
        ends[i] = error_of([&] {
          if (std::filesystem::exists(folder / "r.db")) Store(folder / "r.db", Store::Mode::read_only).runs();
          fill(folder / "r.db", 1, 1);
        });
      });
    for (std::thread& writer : writers) writer.join();
    EXPECT_THAT(ends, Each("no error"));
    EXPECT_EQ(Store(folder / "r.db").runs().size(), ends.size());
  }
}

TEST(StoreErrors, AreNotWhatOthersMayRead) {
  const TemporaryFolder folder;
  fill(folder / "r.db", 1, 1);
  EXPECT_EQ(std::filesystem::status(folder / "r.db").permissions(), std::filesystem::perms(0600));
}

TEST(StoreErrors, SayThatAnotherProcessHoldsTheLock) {
  const TemporaryFolder folder;
  fill(folder / "r.db", 1, 1);
  Store open_before(folder / "r.db", Store::Mode::read_write, milliseconds(0));
  sqlite3* other = nullptr;
  sqlite3_open((folder / "r.db").c_str(), &other);
  const std::string locked = "3: '" + (folder / "r.db").string() + "' is locked by another process";

  sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);  // another writer: reading still works
  EXPECT_EQ(error_of_opening(folder / "r.db", Store::Mode::read_only), "no error");
  EXPECT_EQ(error_of([&] { open_before.append(1, example_result(2)); }), locked);
  sqlite3_exec(other, "COMMIT; BEGIN EXCLUSIVE", nullptr, nullptr, nullptr);
  for (auto mode : kModes) EXPECT_EQ(error_of_opening(folder / "r.db", mode), locked);
  EXPECT_EQ(error_of([&] { open_before.results(); }), locked);
  sqlite3_close(other);

  open_before.append(1, example_result(2));
  EXPECT_EQ(open_before.results().size(), 2u);
}

TEST(StoreErrors, SayThatTheFolderOrTheFileIsReadOnly) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::create_directory(folder / "sealed");
  fill(folder / "sealed/r.db", 2, 3);
  fs::permissions(folder / "sealed/r.db", fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder / "sealed",
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const auto as_nobody = [&](const char* name, Store::Mode mode) {
    return in_child([&] {
      become_nobody();
      return fmt::format("{} cases", Store(folder / name, mode).results().size());
    });
  };
  EXPECT_EQ(as_nobody("sealed/r.db", Store::Mode::read_only), "2 cases");
  EXPECT_EQ(as_nobody("sealed/r.db", Store::Mode::read_write),
            "3: '" + (folder / "sealed/r.db").string() + "' is read-only");
  EXPECT_THAT(as_nobody("sealed/new.db", Store::Mode::read_write), StartsWith("3: '"));

  // The file may be written but not its folder, where the journal must go.
  fs::permissions(folder / "sealed/r.db", fs::perms::all);
  EXPECT_THAT(in_child([&] {
                become_nobody();
                Store(folder / "sealed/r.db").append(1, example_result(9));
                return std::string("appended");
              }),
              StartsWith("3: '"));
  fs::permissions(folder / "sealed", fs::perms::owner_all);
}

TEST(StoreErrors, SayThatATruncatedFileIsDamaged) {
  const TemporaryFolder folder;
  fill(folder / "whole.db", 5, 200);
  const std::string whole = bytes_of(folder / "whole.db");
  ASSERT_GT(whole.size(), 40000u);
  for (std::size_t size = 1000; size < whole.size(); size += 1111) {
    write_bytes(folder / "cut.db", whole.substr(0, size));
    for (auto mode : kModes) EXPECT_THAT(error_of_opening(folder / "cut.db", mode), StartsWith("4: ")) << size;
  }
}

TEST(StoreErrors, ComeFromEveryDamageThatCanBeSeenAndNoneIsCalledOurOwnMistake) {
  const TemporaryFolder folder;
  fill(folder / "whole.db", 5, 100);
  const std::string whole = bytes_of(folder / "whole.db");
  Random random(11);
  int seen = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    const std::size_t at = random.below(bytes.size() - 8);
    for (int i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(random.next());
    write_bytes(folder / "hurt.db", bytes);
    const std::string error = error_of_opening(folder / "hurt.db", Store::Mode::read_only);
    EXPECT_THAT(error, Not(StartsWith("1: "))) << "8 bytes at " << at;
    seen += error.starts_with("4: ");
  }
  EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace hbench::store_errors_test
