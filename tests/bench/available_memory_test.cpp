#include "bench/launch/host.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace hbench::available_memory_test {
namespace {

namespace fs = std::filesystem;

class AvailableMemory : public ::testing::Test {
 protected:
  fs::path root() const { return folder_.path(); }
  void file(const fs::path& path, const std::string& content) {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << content << "\n";
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AvailableMemory, IsUnboundedWhereNothingIsKnown) { EXPECT_EQ(available_memory(root()), INT64_MAX); }

TEST_F(AvailableMemory, IsWhatLinuxCallsAvailable) {
  file("proc/meminfo", "MemTotal:       24600000 kB\nMemFree:  1 kB\nMemAvailable:   12582912 kB\nSwapFree: 7 kB");
  EXPECT_EQ(available_memory(root()), std::int64_t{12} << 30) << "kibibytes";
}

// 4000 allowed, 3000 used, of which 500 are cached files.
TEST_F(AvailableMemory, IsBoundedByTheControlGroup) {
  file("proc/meminfo", "MemAvailable: 1000 kB");
  file("sys/fs/cgroup/memory.max", "4000");
  file("sys/fs/cgroup/memory.current", "3000");
  file("sys/fs/cgroup/memory.stat", "anon 2500\ninactive_file 500\nactive_file 9");
  EXPECT_EQ(available_memory(root()), 1500);
  file("sys/fs/cgroup/memory.max", "max");
  EXPECT_EQ(available_memory(root()), 1000 * 1024);
  file("sys/fs/cgroup/memory.max", "2000");
  EXPECT_EQ(available_memory(root()), 0);
}

TEST_F(AvailableMemory, IsBoundedByEveryGroupThatTheProcessIsIn) {
  file("proc/self/cgroup", "0::/jobs/one");
  file("sys/fs/cgroup/jobs/one/memory.max", "900");
  file("sys/fs/cgroup/jobs/one/memory.current", "100");
  EXPECT_EQ(available_memory(root()), 800);
  file("sys/fs/cgroup/jobs/memory.max", "700");
  file("sys/fs/cgroup/jobs/memory.current", "200");
  EXPECT_EQ(available_memory(root()), 500);
}

TEST_F(AvailableMemory, ReadsTheFirstVersionOfControlGroupsToo) {
  file("proc/self/cgroup", "5:cpu:/elsewhere\n4:memory:/job\n0::/");
  file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000");
  file("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000");
  file("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 300");
  EXPECT_EQ(available_memory(root()), 4300);
}

}  // namespace
}  // namespace hbench::available_memory_test
