#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/bench/collective_runs.hpp"

namespace hbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A small size that ends at once, a large one that takes seconds, and another that does not take long.
std::vector<std::string> three_sizes(const char* executor) {
  return {"collective", "--executor", executor, "--ranks", "2", "-b", "1K", "-e",   "33M",  "-i",
          "16M",        "-n",         "60",     "-T",      "1", "-c", "0",  "--db", "r.db", "--json"};
}

/// Waits until it says that 1 KiB is done: the ranks are at work on 16 MiB.
void let_it_begin(const Workplace& workplace, const Sweeping& run) {
  while (lives(run.pid()) && bytes_of(workplace / ".err").find("1024 B on 2 ranks") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

class CollectiveFaults : public CollectiveUnderMpi {
 protected:
  /// The end of a run whose rank 1 gets a signal in the second of three sizes.
  Outcome run_with_signal(const char* executor, int signal) {
    const std::vector<std::string> before = names_in_shared_memory();
    Sweeping running(workplace_, three_sizes(executor));
    const std::vector<pid_t> ranks = running.workers(2);
    EXPECT_EQ(ranks.size(), 2);
    let_it_begin(workplace_, running);
    if (ranks.size() == 2) kill(ranks[1], signal);
    Outcome outcome = running.wait();
    EXPECT_TRUE(all_die(ranks));
    EXPECT_EQ(names_in_shared_memory(), before);
    return outcome;
  }

  /// Exit code 5, the size under way failed for this reason, the others done: in the output and in the database.
  void expect_one_failure(const Outcome& outcome, const std::string& reason) {
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    const json results = json::parse(outcome.out).at("results");
    ASSERT_EQ(results.size(), 3);
    for (const std::size_t good : {0, 2}) EXPECT_EQ(results[good].at("status"), "done") << results[good].at("failure");
    EXPECT_EQ(results[1].at("status"), "failed");
    EXPECT_THAT(results[1].at("failure").get<std::string>(), testing::ContainsRegex(reason));
    const json stored = json::parse(workplace_.run({"export", "--json", "--db", "r.db"}).out);
    ASSERT_EQ(stored.size(), 3);
    for (const json& point : stored) {
      const bool failed = point.at("bytes") == results[1].at("size");
      EXPECT_EQ(point.at("status"), failed ? "failed" : "done");
      EXPECT_EQ(point.at("failure"), failed ? results[1].at("failure") : json(nullptr));
    }
  }
};

TEST_F(CollectiveFaults, OfARankThatIsKilledFailTheSizeUnderWayByName) {
  expect_one_failure(run_with_signal("mpi", SIGKILL), "launch 1: rank [01] was ended by signal 9");
}

TEST_F(CollectiveFaults, OfARankThatIsKilledInSharedMemoryFailTheSizeUnderWayByName) {
  expect_one_failure(run_with_signal("shm", SIGKILL), "launch 1: rank [01] was ended by signal 9");
}

TEST_F(CollectiveFaults, OfARankThatHangsNameItAndTheRound) {
  expect_one_failure(run_with_signal("mpi", SIGSTOP),
                     "rank [01]: all-reduce ring of 16778240 B, rank [01]: waited 1 s for .*rank [01].* round [0-9]+");
}

TEST_F(CollectiveFaults, OfARankThatHangsInSharedMemoryNameItAndTheStep) {
  expect_one_failure(run_with_signal("shm", SIGSTOP),
                     "rank [01]: all-reduce direct of 16778240 B, rank [01]: waited 1 s for .*rank [01]");
}

TEST_F(CollectiveFaults, ByCtrlCShowAndKeepWhatIsFinishedAndLeaveNoProcess) {
  const std::vector<std::string> before = names_in_shared_memory();
  Sweeping running(workplace_, three_sizes("shm"));
  const std::vector<pid_t> ranks = running.workers(2);
  let_it_begin(workplace_, running);
  kill(running.pid(), SIGINT);
  const Outcome outcome = running.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("hbench: interrupted; every finished case is in r.db"));
  EXPECT_TRUE(all_die(ranks));
  EXPECT_EQ(names_in_shared_memory(), before);
  const json results = json::parse(outcome.out).at("results");
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(results[0].at("size"), 1024);
  const json stored = json::parse(workplace_.run({"export", "--json", "--db", "r.db"}).out);
  ASSERT_EQ(stored.size(), 1);
  EXPECT_EQ(stored[0].at("bytes"), 1024);
}

TEST_F(CollectiveFaults, ByForceLeaveNoProcess) {
  const std::vector<std::string> before = names_in_shared_memory();
  Sweeping running(workplace_, three_sizes("shm"));
  const std::vector<pid_t> ranks = running.workers(2);
  kill(running.pid(), SIGKILL);
  EXPECT_EQ(running.wait().code, 128 + SIGKILL);
  EXPECT_TRUE(all_die(ranks));
  EXPECT_EQ(names_in_shared_memory(), before);
}

constexpr const char* kQuick = "$HBENCH collective --executor threads -b 8 -e 32 -n 1 -w 0 -c 0 --quiet ";

TEST(CollectiveDisk, WhereNothingCanBeWrittenIsSaidBeforeAnyWork) {
  const Workplace workplace;
  const auto expect_refused = [&](const std::string& flags, const char* message, const char* hint) {
    expect_mistake(workplace.shell(kQuick + flags), 3, message, hint);
  };
  expect_refused("-J missing/r.json", "cannot write missing/r.json", "choose another file with --output-file FILE");
  expect_refused("-J .", "cannot write .", "--output-file");
  expect_refused("-J /proc/r.json", "cannot write /proc/r.json", "--output-file");
  expect_refused("--db missing/r.db", "'missing/r.db'", "");
  expect_refused("--db /proc/r.db", "'/proc/r.db'", "permissions");
}

TEST(CollectiveDisk, ThatIsReadOnlyIsSaidBeforeAnyWork) {
  const Workplace workplace;
  if (!can_mount(workplace)) GTEST_SKIP() << "mounts in a namespace of one's own are not allowed here";
  const Outcome outcome = workplace.shell(
      fmt::format("mkdir m && unshare -rm sh -c 'mount -t tmpfs -o ro none m && {} --db m/r.db'", kQuick));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("'m/r.db'"));
}

TEST(CollectiveDisk, ThatIsFullKeepsWhatItHas) {
  const Workplace workplace;
  if (!can_mount(workplace)) GTEST_SKIP() << "mounts in a namespace of one's own are not allowed here";
  const Outcome outcome = workplace.shell(
      fmt::format("mkdir m; unshare -rm sh -c 'mount -t tmpfs -o size=1m none m; {0} --db m/r.db > first || exit 90; "
                  "$HBENCH export --db m/r.db > before; dd if=/dev/zero of=m/ballast bs=4096 2> dd; "
                  "{0} --db m/r.db > second 2> full; echo $? > code; $HBENCH export --db m/r.db > after'",
                  kQuick));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(workplace / "code"), "3\n");
  EXPECT_THAT(bytes_of(workplace / "full"), HasSubstr("the disk is full"));
  EXPECT_EQ(json::parse(bytes_of(workplace / "before")).size(), 3);
  EXPECT_EQ(bytes_of(workplace / "after"), bytes_of(workplace / "before"));
}

}  // namespace
}  // namespace hbench
