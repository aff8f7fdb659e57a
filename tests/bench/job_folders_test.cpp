#include "bench/launch/start_ranks.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "bench/worker/process_identity.hpp"
#include "bench/worker/rank_resources.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::job_folders_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(JobFolders, AreRefusedWhereNothingCanBeWrittenIntoThem) {
  const TemporaryFolder disk, memory;
  const std::string said = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit nothing{.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_FSIZE, &nothing);
    const JobFolders folders(disk.path(), memory.path());
    return std::string("made");
  });
  EXPECT_THAT(said, HasSubstr("3: cannot write into " + disk.path().string()));
  EXPECT_THAT(names_in(disk.path()), IsEmpty());
}

TEST(JobFolders, AreThereAsLongAsTheObjectAndGoWithAllThatIsInThem) {
  const TemporaryFolder disk, memory;
  {
    const JobFolders folders(disk.path(), memory.path());
    EXPECT_EQ(folders.paths().temporary.parent_path(), disk.path());
    EXPECT_EQ(folders.paths().shared_memory.parent_path(), memory.path());
    EXPECT_EQ(fs::status(folders.paths().temporary).permissions(), fs::perms::owner_all);
    fs::create_directories(folders.paths().temporary / "session/pid.1");
    write_bytes(folders.paths().shared_memory / "vader_segment.host.0", "x");
  }
  EXPECT_THAT(names_in(disk.path()), IsEmpty());
  EXPECT_THAT(names_in(memory.path()), IsEmpty());
}

/// Waits until nothing is in a folder.
bool becomes_empty(const fs::path& folder) {
  for (int i = 0; i < 500 && !fs::is_empty(folder); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return fs::is_empty(folder);
}

TEST(JobFolders, OfAJobWhoseHbenchIsKilledWithItsProcessGroupAreRemoved) {
  const TemporaryFolder disk, memory;
  const std::string outcome = in_child([&]() -> std::string {
    setpgid(0, 0);
    const JobFolders folders(disk.path(), memory.path());
    write_bytes(folders.paths().shared_memory / "segment", "x");
    kill(0, SIGKILL);
    return "lives";
  });
  EXPECT_EQ(outcome, "killed by signal 9");
  EXPECT_TRUE(becomes_empty(disk.path()));
  EXPECT_TRUE(becomes_empty(memory.path()));
}

TEST(JobFolders, OfProcessesThatHaveEndedAreRemovedByTheNext) {
  const TemporaryFolder disk;
  std::string name;
  { name = JobFolders(disk.path(), "/nowhere").paths().temporary.filename(); }
  const std::string own = fmt::format("-{}-{}-", getpid(), own_process().start_time);
  ASSERT_NE(name.find(own), std::string::npos) << name;
  // Who has this process's number, but another start, is another process.
  for (const std::string& ended :
       {fmt::format("-{}-{}-", getpid(), own_process().start_time - 1), std::string("-4194304-1-")})
    fs::create_directories(disk / std::string(name).replace(name.find(own), own.size(), ended) / "session");
  const JobFolders next(disk.path(), "/nowhere");
  EXPECT_THAT(names_in(disk.path()), ElementsAre(next.paths().temporary.filename().string()));
}

TEST(JobFolders, LeaveAloneThoseOfRunningJobsOfOtherHostsAndWhateverElseThereIs) {
  const TemporaryFolder disk;
  const JobFolders running(disk.path(), "/nowhere");
  const std::vector<std::string> others{"hbench-00000000-4194304-1-abcdef", "hbench-results", "vader_segment.host.0"};
  for (const std::string& name : others) fs::create_directory(disk / name);
  { const JobFolders next(disk.path(), "/nowhere"); }
  std::vector<std::string> expected = others;
  expected.push_back(running.paths().temporary.filename());
  EXPECT_THAT(names_in(disk.path()), testing::UnorderedElementsAreArray(expected));
}

TEST(JobFolders, NeedNoSharedMemoryButAFolderForSessions) {
  const TemporaryFolder disk;
  EXPECT_EQ(JobFolders(disk.path(), "/nowhere").paths().shared_memory, "");
  write_bytes(disk / "file", "");
  expect_error([&] { JobFolders(disk / "file", disk.path()); }, ExitCode::environment,
               AllOf(HasSubstr((disk / "file").string()), HasSubstr("Not a directory")), HasSubstr("TMPDIR"));
}

TEST(BackingFolders, ThatThisHostLacksAreForgotten) {
  const TemporaryFolder folder;
  EXPECT_EQ(in_child([&] {
              setenv(kBackingFolderVariables[0], folder.path().c_str(), 1);
              setenv(kBackingFolderVariables[1], "/nowhere/at/all", 1);
              unsetenv(kBackingFolderVariables[2]);
              forget_absent_backing_folders();
              return fmt::format("{} {} {}", getenv(kBackingFolderVariables[0]) == folder.path(),
                                 getenv(kBackingFolderVariables[1]) == nullptr,
                                 getenv(kBackingFolderVariables[2]) == nullptr);
            }),
            "true true true");
}

}  // namespace
}  // namespace hbench::job_folders_test
