#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "collectives/base/error.hpp"
#include "store_cases.hpp"
#include "tests/support/child_process.hpp"

namespace hbench::store_disk_test {
namespace {

namespace fs = std::filesystem;

/// Appends until an error; says which, and whether what was appended before is whole, now and after `repair`.
template <class Repair>
std::string append_until_error(const fs::path& file, Repair repair) {
  std::vector<std::string> appended;
  Store store(file);
  const std::int64_t run = store.begin_run(kExampleRun);
  try {
    for (int i = 0; i < 1000; ++i) {
      store.append(run, example_result(i, 200));
      appended.push_back(text_of(example_result(i, 200)));
    }
  } catch (const Error& error) {
    if (texts_of(store.results()) != appended) return "lost something at once";
    repair();
    if (texts_of(Store(file, Store::Mode::read_only).results()) != appended) return "lost something later";
    store.append(run, example_result(1000, 200));
    if (store.results().size() != appended.size() + 1) return "cannot go on";
    return fmt::format("{}: {}, {} cases kept", static_cast<int>(error.code()), error.what(),
                       appended.empty() ? "no" : "all");
  }
  return "no error";
}

/// A file system of 256 KiB in a user namespace of our own; false where the kernel does not allow that.
bool mount_tiny_disk(const fs::path& folder) {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
}

TEST(StoreOnAFullDisk, SaysSoKeepsWhatWasCommittedAndGoesOnWhenThereIsRoom) {
  const TemporaryFolder folder;
  const fs::path file = folder / "r.db";
  const std::string outcome = in_child([&] {
    if (!mount_tiny_disk(folder.path())) return std::string("no namespaces");
    return append_until_error(file, [&] { mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=4096k"); });
  });
  if (outcome == "no namespaces") GTEST_SKIP() << "user namespaces with mounts are not allowed here";
  EXPECT_EQ(outcome, fmt::format("3: the disk is full: '{}' could not be written, all cases kept", file.string()));
}

TEST(StoreBeyondTheLimitOfFileSize, SaysSoKeepsWhatWasCommittedAndGoesOnWhenItIsRaised) {
  const TemporaryFolder folder;
  const fs::path file = folder / "r.db";
  const std::string outcome = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit tight{256 << 10, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    return append_until_error(file, [&] { setrlimit(RLIMIT_FSIZE, &limit); });
  });
  EXPECT_EQ(outcome, fmt::format("3: reading or writing '{}' failed: disk I/O error, all cases kept", file.string()));
}

}  // namespace
}  // namespace hbench::store_disk_test
