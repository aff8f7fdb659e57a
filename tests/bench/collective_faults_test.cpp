#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/bench/collective_runs.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_faults_test {
namespace {

using nlohmann::json;

/// A small size that ends at once, and three that take a moment each.
std::vector<std::string> four_sizes(const char* executor) {
  const char* const iterations = std::string_view(executor) == "shm" ? "200" : "30";
  return {"collective", "--executor", executor,   "--ranks", "2", "-b", "1K", "-e",   "49M",  "-i",
          "16M",        "-n",         iterations, "-T",      "3", "-c", "0",  "--db", "r.db", "--json"};
}

constexpr std::int64_t kSizes[] = {1024, 1024 + (16 << 20), 1024 + (32 << 20), 1024 + (48 << 20)};

/// Waits until it says that a size is done: the ranks are at work on the next.
void let_it_end(const Workplace& workplace, const Sweeping& run, std::int64_t size) {
  const std::string line = fmt::format("] {} B on 2 ranks", size);
  while (lives(run.pid()) && bytes_of(workplace / ".err").find(line) == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

class CollectiveFaults : public CollectiveUnderMpi {
 protected:
  void SetUp() override {
    CollectiveUnderMpi::SetUp();
    shared_memory_ = names_in_shared_memory();
  }

  /// Rank 1 is sent a signal while it works on the size after `done`.
  void strike(Sweeping& running, std::int64_t done, int signal) {
    let_it_end(workplace_, running, done);
    const std::vector<pid_t> ranks = running.workers(2);
    ASSERT_EQ(ranks.size(), 2);
    kill(ranks[1], signal);
    all_ranks_.insert(all_ranks_.end(), ranks.begin(), ranks.end());
  }

  void expect_nothing_is_left() {
    EXPECT_TRUE(all_die(all_ranks_));
    EXPECT_TRUE(all_go(shared_memory_));
  }

  /// Rank 1 is killed in the second size and stopped in the fourth: these fail by name, in the output and in the
  /// database, and the other two are done.
  void expect_two_failures(const char* executor, const char* killed, const char* stopped) {
    Sweeping running(workplace_, four_sizes(executor));
    strike(running, kSizes[0], SIGKILL);
    strike(running, kSizes[2], SIGSTOP);
    const Outcome outcome = running.wait();
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    expect_nothing_is_left();
    const json results = json::parse(outcome.out).at("results");
    ASSERT_EQ(results.size(), 4);
    EXPECT_EQ(results[0].at("status"), "done");
    EXPECT_EQ(results[2].at("status"), "done") << results[2].at("failure");
    EXPECT_THAT(results[1].at("failure").get<std::string>(), ContainsRegex(killed));
    EXPECT_THAT(results[3].at("failure").get<std::string>(), ContainsRegex(stopped));
    const json stored = json::parse(workplace_.run({"export", "--json", "--db", "r.db"}).out);
    ASSERT_EQ(stored.size(), 4);
    for (const json& point : stored)
      for (const json& result : results)
        if (point.at("bytes") == result.at("size")) {
          EXPECT_EQ(point.at("status"), result.at("status"));
          EXPECT_EQ(point.at("failure"), result.at("failure"));
        }
  }

  std::set<std::string> shared_memory_;
  std::vector<pid_t> all_ranks_;
};

// Where a rank is when it is struck is chance: in a collective, whose step is named, or between two.
// Who is killed is named by the launcher, or by the rank that waits for it when the launcher takes its time.
TEST_F(CollectiveFaults, OfRanksThatAreKilledOrHangNameTheRankAndTheRound) {
  expect_two_failures("mpi", "rank 1 was ended by signal 9|waited 3 s for .*rank 1",
                      "rank 0: all-reduce ring of 50332672 B, rank 0: waited 3 s for .*rank 1.* round [0-9]+|"
                      "rank 0: between two iterations: waited 3 s for rank 1");
}

TEST_F(CollectiveFaults, OfRanksThatAreKilledOrHangInSharedMemoryNameTheRankAndTheStep) {
  expect_two_failures("shm", "rank 1 was ended by signal 9|waited 3 s for .*rank 1",
                      "rank 0: all-reduce direct of 50332672 B, rank 0: waited 3 s for .*rank 1 to|"
                      "rank 0: between two iterations: waited 3 s for rank 1");
}

TEST_F(CollectiveFaults, ByCtrlCShowAndKeepWhatIsFinishedAndLeaveNoProcess) {
  Sweeping running(workplace_, four_sizes("shm"));
  let_it_end(workplace_, running, kSizes[0]);
  all_ranks_ = running.workers(2);
  kill(running.pid(), SIGINT);
  const Outcome outcome = running.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("hbench: interrupted; every finished case is in r.db"));
  expect_nothing_is_left();
  const json results = json::parse(outcome.out).at("results");
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(results[0].at("size"), kSizes[0]);
  const json stored = json::parse(workplace_.run({"export", "--json", "--db", "r.db"}).out);
  ASSERT_EQ(stored.size(), 1);
  EXPECT_EQ(stored[0].at("bytes"), kSizes[0]);
}

TEST_F(CollectiveFaults, ByForceLeaveNoProcess) {
  Sweeping running(workplace_, four_sizes("shm"));
  all_ranks_ = running.workers(2);
  kill(running.pid(), SIGKILL);
  EXPECT_EQ(running.wait().code, 128 + SIGKILL);
  expect_nothing_is_left();
}

/// Names in a folder that begin like this.
std::vector<std::string> names_like(const std::filesystem::path& folder, std::string_view begin) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename(); name.starts_with(begin)) names.push_back(name);
  return names;
}

TEST_F(CollectiveFaults, OfTheLauncherItselfLeaveNoProcessNoSessionAndNoMemory) {
  const std::filesystem::path temporary = workplace_ / "tmp";
  std::filesystem::create_directory(temporary);
  Sweeping running(workplace_, four_sizes("mpi"), {{"TMPDIR", temporary.string()}});
  let_it_end(workplace_, running, kSizes[0]);
  all_ranks_ = running.workers(2);
  ASSERT_EQ(all_ranks_.size(), 2);
  const std::string own = fmt::format("-{}-", running.pid());  // in the names of the folders that this run makes
  EXPECT_FALSE(std::filesystem::is_empty(temporary));
  std::size_t folders = 0;
  for (const std::string& name : names_like("/dev/shm", "hbench-"))
    if (name.find(own) != std::string::npos) folders += std::filesystem::is_empty("/dev/shm/" + name) ? 0 : 1;
  EXPECT_EQ(folders, 1) << "Open MPI's shared memory is in a folder of ours";
  const pid_t launcher = parent_of(all_ranks_[0]);
  ASSERT_NE(launcher, running.pid());
  kill(launcher, SIGKILL);
  let_it_end(workplace_, running, kSizes[2]);  // the other sizes go on
  kill(running.pid(), SIGINT);
  EXPECT_EQ(running.wait().code, 130);
  expect_nothing_is_left();
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  for (const std::string& name : names_like("/dev/shm", "hbench-")) EXPECT_EQ(name.find(own), std::string::npos);
}

TEST_F(CollectiveFaults, OfALauncherThatCannotStartSayWhatIsWrongInOneLine) {
  const char* const quick = "$HBENCH collective --executor mpi --ranks 2 -b 8 -e 8 -n 1 -w 0 -c 0 --quiet";
  const Outcome no_folder = workplace_.shell(fmt::format("touch file; TMPDIR=$PWD/file {}", quick));
  EXPECT_EQ(no_folder.code, 3);
  EXPECT_THAT(no_folder.err,
              AllOf(HasSubstr((workplace_ / "file").string()), HasSubstr("Not a directory"), HasSubstr("TMPDIR")));
  const Outcome few_files = workplace_.shell(fmt::format("ulimit -n 20; {}", quick));
  EXPECT_EQ(few_files.code, 3);
  EXPECT_THAT(few_files.err, AllOf(HasSubstr("the limit is 20"), HasSubstr("ulimit -n 42")));
}

constexpr const char* kQuick = "$HBENCH collective --executor threads -b 8 -e 32 -n 1 -w 0 -c 0 --quiet ";

TEST(CollectiveDisk, WhereNothingCanBeWrittenIsSaidBeforeAnyWork) {
  const Workplace workplace;
  const auto expect_refused = [&](const std::string& flags, const char* message, const char* hint) {
    expect_mistake(workplace.shell(kQuick + flags), 3, message, hint);
  };
  expect_refused("-J missing/r.json", "cannot write missing/r.json: No such file or directory",
                 "choose another file with --out FILE");
  expect_refused("-J .", "cannot write .: Is a directory", "--out");
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
}  // namespace hbench::collective_faults_test
