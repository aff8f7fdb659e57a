#include <gmock/gmock.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_cases.hpp"
#include "tests/support/child_process.hpp"

namespace hbench::store_crash_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> first_examples(int count, int samples) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(text_of(example_result(i, samples)));
  return texts;
}

/// Appends cases for ever and writes a byte to `done` after each.
[[noreturn]] void append_for_ever(const fs::path& file, int done) {
  Store store(file);
  const std::int64_t run = store.begin_run(kExampleRun);
  for (int i = 0;; ++i) {
    store.append(run, example_result(i, 300));
    if (write(done, "x", 1) != 1) _exit(1);
  }
}

TEST(StoreAfterSigkill, HoldsEveryCaseThatWasAppendedAndNoHalfOne) {
  for (int kill_after = 0; kill_after < 8; ++kill_after) {
    const TemporaryFolder folder;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) append_for_ever(folder / "r.db", ends[1]);
    close(ends[1]);
    char byte = 0;
    for (int i = 0; i <= kill_after; ++i) ASSERT_EQ(read(ends[0], &byte, 1), 1);
    // A little later, so that the signal falls into different moments of the next transaction.
    usleep(137 * kill_after);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto results = texts_of(Store(folder / "r.db", Store::Mode::read_only).results());
    EXPECT_GT(std::ssize(results), kill_after);
    EXPECT_EQ(results, first_examples(static_cast<int>(results.size()), 300));
    Store again(folder / "r.db");
    again.append(again.begin_run(kExampleRun), example_result(1000, 5));
    EXPECT_EQ(again.results().size(), results.size() + 1);
  }
}

/// A copy of the database and its journal as a crash in the midst of a large transaction leaves them.
void copy_amid_transaction(const fs::path& from, const fs::path& to) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(from.c_str(), &handle), SQLITE_OK);
  // A cache of ten pages spills into the file long before the commit.
  ASSERT_EQ(sqlite3_exec(handle,
                         "PRAGMA cache_size = 10; BEGIN IMMEDIATE; UPDATE sample SET value = value + 1000;"
                         "UPDATE sample SET unit = 'a very much longer unit than before';",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  fs::copy_file(from, to);
  fs::copy_file(from.string() + "-journal", to.string() + "-journal");
  sqlite3_close(handle);
}

TEST(StoreAfterACrash, TakesBackAnUnfinishedTransactionEvenForAReader) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    fill(folder / "r.db", 20, 300);
    const std::string before = bytes_of(folder / "r.db");
    copy_amid_transaction(folder / "r.db", folder / "crashed.db");
    ASSERT_NE(bytes_of(folder / "crashed.db"), before);
    EXPECT_EQ(texts_of(Store(folder / "crashed.db", mode).results()), first_examples(20, 300));
  }
}

TEST(TwoStoresAtOnce, BothAppendWithoutLoss) {
  const TemporaryFolder folder;
  constexpr int kEach = 30;
  const auto append_all = [&](int first) {
    Store store(folder / "r.db", Store::Mode::read_write, std::chrono::minutes(1));
    const std::int64_t run = store.begin_run(kExampleRun);
    for (int i = 0; i < kEach; ++i) store.append(run, example_result(first + i, 20));
  };
  const pid_t child = fork();
  if (child == 0) {
    append_all(1000);
    _exit(0);
  }
  append_all(0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);

  Store store(folder / "r.db", Store::Mode::read_only);
  EXPECT_EQ(store.runs().size(), 2u);
  EXPECT_EQ(store.results().size(), 2u * kEach);
  for (const CaseResult& result : store.results())
    EXPECT_EQ(text_of(result), text_of(example_result(result.asked.batch_per_gpu - 100, 20)));
}

}  // namespace
}  // namespace hbench::store_crash_test
