#include "analysis/store/open.hpp"

#include <gmock/gmock.h>

#include "analysis/store/store.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::store_file_system_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using store::Database;

constexpr std::int64_t kNfs = 0x6969, kExt4 = 0xef53;

TEST(FileSystem, OfANetworkIsKnownByItsNumber) {
  // Decimal, as `stat -f -c %t` in hexadecimal would give them; from statfs(2) and the file systems' own headers.
  EXPECT_EQ(store::network_file_system(26985), "NFS");
  EXPECT_EQ(store::network_file_system(20859), "SMB");
  EXPECT_EQ(store::network_file_system(4266872130), "SMB2");
  EXPECT_EQ(store::network_file_system(4283649346), "CIFS");
  EXPECT_EQ(store::network_file_system(198183888), "Lustre");
  EXPECT_EQ(store::network_file_system(1702057286), "FUSE");
  EXPECT_EQ(store::network_file_system(1196443219), "GPFS");
  EXPECT_EQ(store::network_file_system(12805120), "Ceph");
}

TEST(FileSystem, OfALocalDiskIsNone) {
  // ext4, XFS, Btrfs, tmpfs, overlay, ZFS.
  for (const std::int64_t type : {0xef53L, 0x58465342L, 0x9123683eL, 0x01021994L, 0x794c7630L, 0x2fc12fc1L})
    EXPECT_EQ(store::network_file_system(type), "") << type;
}

TEST(FileSystem, HasNoWalWhereMachinesMayShareItOrNobodyKnows) {
  EXPECT_FALSE(store::wal_works_on(kNfs));
  EXPECT_FALSE(store::wal_works_on(0x65735546));
  EXPECT_FALSE(store::wal_works_on(store::kUnknownFileSystem));
  EXPECT_TRUE(store::wal_works_on(kExt4));
  EXPECT_TRUE(store::wal_works_on(0x01021994));
}

TEST(FileSystem, IsThatOfTheFileOrOfItsFolderBeforeItIsMade) {
  const TemporaryFolder folder;
  const std::int64_t type = store::file_system_type(folder / "absent.db");
  EXPECT_NE(type, store::kUnknownFileSystem);
  write_bytes(folder / "there.db", "x");
  EXPECT_EQ(store::file_system_type(folder / "there.db"), type);
  EXPECT_NE(store::file_system_type("/proc/self/status"), type);
  EXPECT_EQ(store::file_system_type(folder / "no/such/folder/x.db"), store::kUnknownFileSystem);
}

/// A database of one run that another program has put into WAL mode.
void make_wal_database(const fs::path& file) {
  Store(file).begin_run({.command = "hbench", .version = "1", .started_at = "2026-01-01T00:00:00Z", .environment = {}});
  run_sql(file, "PRAGMA journal_mode = WAL");
}

TEST(ADatabaseInWalMode, IsUsedAloneAndWithoutSharedMemoryOnANetworkFileSystem) {
  for (const std::int64_t type : {kNfs, kExt4}) {
    const TemporaryFolder folder;
    make_wal_database(folder / "r.db");
    Database database = store::open_file(folder / "r.db", false, milliseconds(0), type);
    EXPECT_EQ(database.integer("SELECT count(*) FROM run"), 1);
    EXPECT_EQ(fs::exists(folder / "r.db-shm"), type == kExt4);
    const auto count_by_another = [&] {
      return store::open_file(folder / "r.db", false, milliseconds(0), type).integer("SELECT count(*) FROM run");
    };
    if (type == kExt4)
      EXPECT_EQ(count_by_another(), 1);
    else
      EXPECT_THROW(count_by_another(), Error);
  }
}

TEST(ADatabaseWithARollbackJournal, IsSharedOnANetworkFileSystem) {
  const TemporaryFolder folder;
  Store(folder / "r.db")
      .begin_run({.command = "hbench", .version = "1", .started_at = "2026-01-01T00:00:00Z", .environment = {}});
  Database one = store::open_file(folder / "r.db", false, milliseconds(0), kNfs);
  Database two = store::open_file(folder / "r.db", false, milliseconds(0), kNfs);
  for (Database* database : {&one, &two, &one}) {
    EXPECT_EQ(database->integer("SELECT count(*) FROM run"), 1);
    database->run("UPDATE run SET version = version + 1");
  }
  EXPECT_EQ(two.integer("SELECT version FROM run"), 4);
}

TEST(ADatabaseInWalMode, GetsARollbackJournalWithItsFirstWriter) {
  const TemporaryFolder folder;
  make_wal_database(folder / "r.db");
  Store writer(folder / "r.db");
  writer.append(1, example_result(1));
  EXPECT_FALSE(fs::exists(folder / "r.db-shm"));
  Store other(folder / "r.db", Store::Mode::read_write, milliseconds(0));
  other.append(1, example_result(2));
  EXPECT_EQ(writer.results().size(), 2u) << "neither keeps the other out";
}

TEST(ANewDatabase, HasARollbackJournal) {
  const TemporaryFolder folder;
  Database database = store::open_for_writing(folder / "r.db", milliseconds(0), store::migrations());
  EXPECT_EQ(database.text("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(database.text("PRAGMA locking_mode"), "normal");
}

}  // namespace
}  // namespace hbench::store_file_system_test
