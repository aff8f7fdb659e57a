#include "analysis/store/upkeep.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/store/store.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "frozen_schemas.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::store_merge_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = HBENCH_SOURCE_DIR;

hbench::Run run_at(std::string_view time) {
  return {.command = "hbench sweep",
          .version = "0.1.0",
          .started_at = std::string(time),
          .environment = {{"cores", "2"}, {"machine 0123", "2 cores of some CPU"}},
          .labels = {{"branch", "main"}}};
}

/// Appends a run of these cases, of ten samples each.
void add_run(const fs::path& file, std::string_view time, const std::vector<int>& numbers) {
  Store store(file);
  const std::int64_t run = store.begin_run(run_at(time));
  for (const int number : numbers) store.append(run, example_result(number, 10));
}

std::string text_of(const MergeResult& result) {
  return fmt::format("added {}, grown {}, known {}, cases {}, samples {}", result.added, result.grown, result.known,
                     result.cases, result.samples);
}

TEST(Merge, BringsWholeRunsAndIsDoneOnce) {
  const TemporaryFolder folder;
  const fs::path other = folder / "other.db", mine = folder / "mine.db";
  add_run(mine, "2026-11-20T00:00:00Z", {1});
  add_run(other, "2026-11-21T00:00:00Z", {2, 3});
  add_run(other, "2026-11-22T00:00:00Z", {4});
  const std::string before = bytes_of(other);
  EXPECT_EQ(text_of(merge_database(other, mine)), "added 2, grown 0, known 0, cases 3, samples 30");
  EXPECT_EQ(text_of(merge_database(other, mine)), "added 0, grown 0, known 2, cases 0, samples 0");
  EXPECT_EQ(bytes_of(other), before);

  const Store merged(mine, Store::Mode::read_only), source(other, Store::Mode::read_only);
  EXPECT_EQ(texts_of(merged.results()),
            texts_of({example_result(1, 10), example_result(2, 10), example_result(3, 10), example_result(4, 10)}));
  ASSERT_EQ(merged.runs().size(), 3u);
  for (const std::size_t i : {0, 1}) {
    const hbench::Run came = merged.runs()[i + 1], was = source.runs()[i];
    EXPECT_EQ(came.uuid, was.uuid);
    EXPECT_EQ(came.command, was.command);
    EXPECT_EQ(came.started_at, was.started_at);
    EXPECT_EQ(came.environment, was.environment);
    EXPECT_EQ(came.labels, was.labels);
  }
  EXPECT_EQ(source.results().front().machine_in_words, merged.results()[1].machine_in_words);
}

TEST(Merge, BringsWhatWasAcceptedOnce) {
  const TemporaryFolder folder;
  const fs::path other = folder / "other.db", mine = folder / "mine.db";
  add_run(mine, "2026-11-20T00:00:00Z", {1});
  add_run(other, "2026-11-21T00:00:00Z", {2});
  const Acceptance first{.run = 1, .reason = "wanted", .accepted_at = "2026-11-22T00:00:00Z"};
  Store(other).accept(first);
  merge_database(other, mine);
  merge_database(other, mine);
  std::vector<Acceptance> merged = Store(mine, Store::Mode::read_only).acceptances();
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].run, 2) << "its number here";
  EXPECT_EQ(merged[0].reason, "wanted");
  Store(other).accept({.run = 1, .reason = "still wanted", .accepted_at = "2026-11-23T00:00:00Z"});
  EXPECT_EQ(text_of(merge_database(other, mine)), "added 0, grown 0, known 1, cases 0, samples 0");
  merged = Store(mine, Store::Mode::read_only).acceptances();
  ASSERT_EQ(merged.size(), 2U) << "after the run itself had been merged";
  EXPECT_EQ(merged[1].reason, "still wanted");
}

TEST(Merge, MakesADatabaseThatIsAbsentAndGoesBothWays) {
  const TemporaryFolder folder;
  add_run(folder / "a.db", "2026-11-20T00:00:00Z", {1});
  add_run(folder / "b.db", "2026-11-21T00:00:00Z", {2});
  EXPECT_EQ(merge_database(folder / "a.db", folder / "all.db").added, 1);
  EXPECT_EQ(merge_database(folder / "b.db", folder / "all.db").added, 1);
  EXPECT_EQ(text_of(merge_database(folder / "all.db", folder / "a.db")),
            "added 1, grown 0, known 1, cases 1, samples 10");
  EXPECT_EQ(Store(folder / "a.db").results().size(), 2u);
}

TEST(Merge, OfAnOlderRunLeavesTheNewestAnswerTheNewest) {
  const TemporaryFolder folder;
  add_run(folder / "mine.db", "2026-11-20T00:00:00Z", {1});
  {
    Store old(folder / "old.db");
    CaseResult answer = example_result(1, 10);
    answer.samples[0].value = 99;
    old.append(old.begin_run(run_at("2026-10-01T00:00:00Z")), answer);
  }
  merge_database(folder / "old.db", folder / "mine.db");
  EXPECT_EQ(texts_of(Store(folder / "mine.db").results()), std::vector{text_of(example_result(1, 10))});
}

TEST(Merge, BringsTheRestOfARunThatWasMergedBeforeItEnded) {
  const TemporaryFolder folder;
  Store running(folder / "running.db");
  const std::int64_t run = running.begin_run(run_at("2026-11-20T00:00:00Z"));
  const std::int64_t first = running.append(run, example_result(1, 10));
  merge_database(folder / "running.db", folder / "mine.db");
  running.add(first, example_result(1, 4).samples);
  running.append(run, example_result(2, 10));
  EXPECT_EQ(text_of(merge_database(folder / "running.db", folder / "mine.db")),
            "added 0, grown 1, known 0, cases 1, samples 14");
  EXPECT_EQ(texts_of(Store(folder / "mine.db").results()), texts_of(running.results()));
  EXPECT_EQ(Store(folder / "mine.db").runs().size(), 1u);
  // The other way round: what has more stays.
  EXPECT_EQ(merge_database(folder / "mine.db", folder / "running.db").known, 1);
}

class MergeOfAnOldSchema : public testing::TestWithParam<std::string> {};

TEST_P(MergeOfAnOldSchema, LeavesTheFileAsItIsAndRecognisesItsRunsOnceItIsMigrated) {
  const TemporaryFolder folder;
  const fs::path old = folder / "old.db", mine = folder / "mine.db";
  run_sql(old, bytes_of(kSource / "tests/analysis/data" / GetParam()));
  const std::string before = bytes_of(old);
  const MergeResult first = merge_database(old, mine);
  EXPECT_GT(first.added, 0);
  EXPECT_GT(first.samples, 0);
  EXPECT_EQ(merge_database(old, mine).known, first.added);
  EXPECT_EQ(bytes_of(old), before);
  EXPECT_EQ(texts_of(Store(mine).results()), texts_of(Store(old, Store::Mode::read_only).results()));
  { const Store migrated(old); }
  EXPECT_NE(bytes_of(old), before);
  EXPECT_EQ(text_of(merge_database(old, mine)),
            fmt::format("added 0, grown 0, known {}, cases 0, samples 0", first.added));
}

INSTANTIATE_TEST_SUITE_P(All, MergeOfAnOldSchema, testing::ValuesIn(frozen_schemas()));

TEST(Merge, RefusesItselfWhatIsAbsentAndWhatIsDamaged) {
  const TemporaryFolder folder;
  const fs::path mine = folder / "mine.db";
  add_run(mine, "2026-11-20T00:00:00Z", {1, 2, 3, 4, 5});
  const auto code_of = [&](const fs::path& from) {
    try {
      merge_database(from, mine);
    } catch (const Error& error) {
      EXPECT_FALSE(error.hint().empty());
      return error.code();
    }
    return ExitCode::good;
  };
  EXPECT_EQ(code_of(mine), ExitCode::usage);
  EXPECT_EQ(code_of(folder.path() / "." / "mine.db"), ExitCode::usage);
  EXPECT_EQ(code_of(folder / "absent.db"), ExitCode::usage);
  const std::string whole = bytes_of(mine);
  write_bytes(folder / "cut.db", whole.substr(0, whole.size() - 4096));
  EXPECT_EQ(code_of(folder / "cut.db"), ExitCode::wrong_data);
  EXPECT_EQ(Store(mine).runs().size(), 1u);
}

/// In a process of its own; its exit code is 0 when nothing was thrown.
template <class Body>
pid_t in_process(Body body) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    body();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

TEST(TwoStoresThatMerge, TheSameRunsWhileAThirdAppendsLoseNothingAndCountNothingTwice) {
  const TemporaryFolder folder;
  constexpr int kRuns = 20;
  const fs::path mine = folder / "mine.db";
  for (int i = 0; i < kRuns; ++i) add_run(folder / "other.db", fmt::format("2026-11-{:02}T00:00:00Z", i + 1), {i + 1});
  constexpr auto kPatience = std::chrono::minutes(1);
  { const Store made(mine); }
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i)
    children.push_back(in_process([&] { merge_database(folder / "other.db", mine, kPatience); }));
  children.push_back(in_process([&] {
    Store store(mine, Store::Mode::read_write, kPatience);
    const std::int64_t run = store.begin_run(run_at("2026-12-01T00:00:00Z"));
    for (int i = 0; i < kRuns; ++i) store.append(run, example_result(1000 + i, 10));
  }));
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Store merged(mine, Store::Mode::read_only);
  EXPECT_EQ(merged.runs().size(), kRuns + 1u);
  std::vector<CaseResult> expected;
  for (int i = 0; i < kRuns; ++i) expected.push_back(example_result(i + 1, 10));
  for (int i = 0; i < kRuns; ++i) expected.push_back(example_result(1000 + i, 10));
  EXPECT_EQ(texts_of(merged.results()), texts_of(expected));
  const Case asked = expected.front().asked;
  EXPECT_EQ(merged.history(asked.question(), asked.place()).size(), 1u);
}

}  // namespace
}  // namespace hbench::store_merge_test
