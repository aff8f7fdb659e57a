// Ranks that outlive their job are killed; processes that only have a rank's number are not.

#include "bench/launch/start_ranks.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "bench/launch/installation.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::start_ranks_test {
namespace {

/// Somebody else's process, which must live as long as this object.
class Stranger {
 public:
  Stranger() {
    if (pid_ != 0) return;
    pause();
    _exit(0);
  }
  ~Stranger() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ProcessIdentity identity() const { return {pid_, own_host_identity(), process_status(pid_)->start_time}; }
  bool lives() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_ = fork();
};

std::string hello(const ProcessIdentity& process) { return to_json(HelloLine{0, process}); }

/// A job of one rank, which is a shell's script.
JobOutcome run_script(const std::string& script, RankReports& reports, Seconds timeout = Seconds(0)) {
  const TemporaryFolder folder;
  write_program(folder / "rank", "#!/bin/sh\n" + script);
  const RankStart start{.launcher = "local", .worker = {(folder / "rank").string()}, .timeout = timeout};
  return start_ranks(start, this_host(), reports, [](const WorkerLine&) {});
}

bool dies(const ProcessIdentity& process) {
  const auto gone = [&] {
    const auto status = status_of(process);
    return !status || status->state == 'Z';
  };
  for (int i = 0; i < 500 && !gone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return gone();
}

TEST(StartRanks, NeverSignalsAProcessThatOnlyHasARanksNumber) {
  const Stranger stranger;
  ProcessIdentity later = stranger.identity(), elsewhere = stranger.identity(), unknown = stranger.identity();
  later.start_time += 1;
  elsewhere.host = "another boot pid:[1]";
  unknown.host.clear();
  for (const ProcessIdentity& reported : {later, elsewhere, unknown}) {
    RankReports reports;
    const JobOutcome outcome = run_script("echo '" + hello(reported) + "'; exit 3", reports);
    EXPECT_EQ(outcome.code, ExitCode::lost_rank);
    EXPECT_EQ(reports.processes.at(0), reported);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(stranger.lives());
  }
}

/// Reports a process that left the job's process group, as a rank's.
std::string leave_a_rank(const std::string& then) {
  return fmt::format(
      "setsid sleep 1000 >/dev/null 2>&1 &\n"
      "start=$(cut -d ' ' -f 22 /proc/$!/stat)\n"
      "echo '{{\"hello\":{{\"rank\":0,\"host\":\"{}\",\"pid\":'$!',\"start_time\":'$start'}}}}'\n{}",
      own_host_identity(), then);
}

TEST(StartRanks, KillsARankThatIsLeftOver) {
  RankReports reports;
  EXPECT_EQ(run_script(leave_a_rank("exit 3"), reports).code, ExitCode::lost_rank);
  ASSERT_TRUE(reports.processes.contains(0));
  EXPECT_GT(reports.processes.at(0).start_time, 0);
  EXPECT_TRUE(dies(reports.processes.at(0)));
}

TEST(StartRanks, KillsARankThatIsLeftOverWhenTheJobIsLeftByAnException) {
  RankReports reports;
  const TemporaryFolder folder;
  write_program(folder / "rank", "#!/bin/sh\n" + leave_a_rank("sleep 1000"));
  const RankStart start{.launcher = "local", .worker = {(folder / "rank").string()}};
  EXPECT_THROW(start_ranks(start, this_host(), reports, [](const WorkerLine&) { throw std::runtime_error("full"); }),
               std::runtime_error);
  ASSERT_TRUE(reports.processes.contains(0));
  EXPECT_TRUE(dies(reports.processes.at(0)));
}

/// What mpirun is called with, here a script; or why it is not.
std::string arguments_of_mpirun(int processes, const Host& host) {
  const TemporaryFolder folder;
  write_program(folder / "mpirun", "#!/bin/sh\nprintf %s \"$*\" > \"$0.arguments\"\n");
  const std::string path = folder.path().string() + ":/usr/bin:/bin";
  return in_child([&] {
    setenv("PATH", path.c_str(), 1);
    RankReports reports;
    Host here = host;
    here.path = path;
    try {
      start_ranks({.launcher = "mpirun", .processes = processes, .worker = {"worker"}, .environment = {}}, here,
                  reports, [](const WorkerLine&) {});
    } catch (const Error& error) {
      return fmt::format("{}, exit code {}", error.what(), static_cast<int>(error.code()));
    }
    std::ifstream in(folder / "mpirun.arguments");
    std::string line;
    std::getline(in, line);
    return line;
  });
}

TEST(StartRanks, SaysToMpirunThatThereAreMoreRanksThanCoresAndWhoStartsThem) {
  const Host two{.cores = 2, .as_root = false, .path = ""};
  EXPECT_EQ(arguments_of_mpirun(2, two), "-n 2 --bind-to none worker");
  EXPECT_EQ(arguments_of_mpirun(3, two), "-n 3 --bind-to none --oversubscribe worker");
  EXPECT_EQ(arguments_of_mpirun(1, {.cores = 2, .as_root = true, .path = ""}),
            "-n 1 --bind-to none --allow-run-as-root worker");
}

TEST(StartRanks, GetsEachLineWholeWhereMpirunMixesThoseOfRanks) {
  if (!on_path("mpirun", this_host().path)) GTEST_SKIP() << "mpirun is not on the PATH";
  const TemporaryFolder folder;
  // Rank 0 writes lines that mpirun passes on in pieces, while the others write short ones.
  write_program(folder / "rank", R"(#!/bin/sh
rank=$OMPI_COMM_WORLD_RANK
long=$(printf '%01990d' 0)
for i in $(seq 60); do
  if [ "$rank" = 0 ]; then
    line="{\"done\":{\"rank\":0,\"digest\":\"$long\"}}"
    printf '%s\n%s\n%s\n%s\n%s\n' "$line" "$line" "$line" "$line" "$line"
  else
    printf '{"done":{"rank":%d,"digest":""}}\n' "$rank"
  fi
done
)");
  std::map<int, int> lines;
  RankReports reports;
  const RankStart start{.launcher = "mpirun", .processes = 3, .worker = {(folder / "rank").string()}};
  start_ranks(start, this_host(), reports, [&](const WorkerLine& line) { ++lines[std::get<DoneLine>(line).rank]; });
  EXPECT_EQ(lines, (std::map<int, int>{{0, 300}, {1, 60}, {2, 60}}));
}

TEST(StartRanks, RefusesALauncherThatMayOpenTooFewFiles) {
  Host few{.cores = 2, .as_root = false, .path = "", .open_files = 42};
  EXPECT_EQ(arguments_of_mpirun(2, few), "-n 2 --bind-to none worker");
  EXPECT_THAT(arguments_of_mpirun(3, few), AllOf(HasSubstr("47"), HasSubstr("42"), HasSubstr("exit code 3")));
  few.open_files = 41;
  EXPECT_THAT(arguments_of_mpirun(2, few), AllOf(HasSubstr("41"), HasSubstr("exit code 3")));
}

TEST(ThisHost, KnowsHowManyFilesAProcessMayOpen) {
  EXPECT_EQ(in_child([] {
              const rlimit limit{123, 123};
              setrlimit(RLIMIT_NOFILE, &limit);
              return std::to_string(this_host().open_files);
            }),
            "123");
}

TEST(ThisHost, KnowsRoot) {
  EXPECT_EQ(this_host().as_root, geteuid() == 0);
  if (geteuid() != 0) return;
  EXPECT_EQ(in_child([] {
              become_nobody();
              return std::string(this_host().as_root ? "root" : "nobody");
            }),
            "nobody");
}

TEST(StartRanks, SaysOnlyOfItsOwnHostsProcessesThatTheyAreGone) {
  ProcessIdentity gone{1, own_host_identity(), -5}, elsewhere{1, "another boot pid:[1]", 5};
  for (const auto& [process, known] : {std::pair{gone, true}, {elsewhere, false}}) {
    RankReports reports;
    const JobOutcome outcome = run_script("echo '" + hello(process) + "'; sleep 1000", reports, Seconds(0.3));
    EXPECT_EQ(outcome.code, ExitCode::lost_rank);
    EXPECT_EQ(reports.states.contains(0), known);
    EXPECT_EQ(outcome.reason.find("rank 0 is gone") != std::string::npos, known) << outcome.reason;
  }
}

}  // namespace
}  // namespace hbench::start_ranks_test
