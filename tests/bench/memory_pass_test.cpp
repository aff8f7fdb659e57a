#include "bench/worker/loop_timing.hpp"

#include <gmock/gmock.h>

#include "collectives/base/text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::memory_pass_test {
namespace {

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

// Parts are added up side by side, and every part gets the sum: so a byte that was not read, or not written, shows.
TEST(MemoryPass, RewritesEveryByteOnce) {
  constexpr std::size_t kStreams = 3, kPart = 600 * 1024 + 64;  // no whole number of blocks
  std::vector<std::byte> bytes = counted(kStreams * kPart + 5);
  const std::vector<std::byte> before = bytes;
  MemoryPass().rewrite(bytes, kStreams);
  for (std::size_t i = 0; i < kPart; ++i) {
    unsigned sum = 0;
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      sum += std::to_integer<unsigned>(before[stream * kPart + i]);
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      ASSERT_EQ(std::to_integer<unsigned>(bytes[stream * kPart + i]), sum % 256) << stream << ' ' << i;
  }
}

TEST(MemoryPass, ThatReadsWritesNothing) {
  std::vector<std::byte> bytes = counted(1 << 20);
  const std::vector<std::byte> before = bytes;
  MemoryPass().read(bytes, 4);
  EXPECT_EQ(bytes, before);
}

class Caches : public testing::Test {
 protected:
  void add(int cpu, int index, const char* level, const char* size, const char* shared) const {
    const auto path = folder_.path() / ("cpu" + std::to_string(cpu)) / "cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(path);
    write_bytes(path / "level", level);
    write_bytes(path / "size", size);
    write_bytes(path / "shared_cpu_list", shared);
  }
  TemporaryFolder folder_;
};

TEST_F(Caches, OfTheLastLevelCountOnceForAllTheirCores) {
  add(0, 0, "1\n", "48K\n", "0\n");
  add(0, 3, "3\n", "32768K\n", "0-1\n");
  add(1, 3, "3\n", "32768K\n", "0-1\n");
  add(2, 3, "3\n", "32M\n", "2-3\n");
  EXPECT_EQ(last_level_cache_bytes(folder_.path()), std::size_t{64} << 20);
}

TEST_F(Caches, AreUnknownWhereTheKernelDoesNotListThem) {
  EXPECT_EQ(last_level_cache_bytes(folder_.path()), 0u);
  EXPECT_EQ(last_level_cache_bytes(folder_ / "nothing"), 0u);
}

}  // namespace
}  // namespace hbench::memory_pass_test
