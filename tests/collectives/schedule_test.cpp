#include "collectives/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hbench::schedule_test {
namespace {

Schedule cut(int chunks, std::vector<std::int64_t> offsets = {}) {
  return {.world = {}, .chunks = chunks, .rounds = 0, .transfers = {}, .offsets = std::move(offsets)};
}

TEST(ScheduleRange, PartitionsTheBufferForAllChunksAndElements) {
  for (int chunks = 1; chunks <= 33; ++chunks)
    for (std::int64_t elements = 0; elements <= 140; ++elements) {
      const Schedule schedule = cut(chunks);
      std::int64_t end = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const ElementRange range = schedule.range(chunk, 1, elements);
        ASSERT_EQ(range.begin, end) << chunk << " of " << chunks << ", " << elements;
        ASSERT_EQ(range.size(), elements / chunks + (chunk < elements % chunks ? 1 : 0));
        end = range.end;
      }
      ASSERT_EQ(end, elements);
      ASSERT_EQ(schedule.range(0, chunks, elements).size(), elements);
    }
}

TEST(ScheduleRange, OfSeveralChunksIsTheirUnion) {
  const Schedule schedule = cut(7);
  const ElementRange range = schedule.range(2, 3, 100);  // 15 15 14 14 14 14 14
  EXPECT_EQ(range.begin, 30);
  EXPECT_EQ(range.end, 72);
}

TEST(ScheduleRange, DoesNotOverflowOnLargeBuffers) {
  const std::int64_t elements = std::int64_t{1} << 40;
  EXPECT_EQ(cut(1000).range(999, 1, elements).end, elements);
}

TEST(ScheduleRange, FollowsOffsetsAndInsistsOnTheirLength) {
  const Schedule schedule = cut(3, {0, 5, 5, 12});
  EXPECT_EQ(schedule.range(0, 1, 12).end, 5);
  EXPECT_EQ(schedule.range(1, 1, 12).size(), 0);
  EXPECT_EQ(schedule.range(1, 2, 12).begin, 5);
  EXPECT_EQ(schedule.range(1, 2, 12).end, 12);
  EXPECT_THROW(schedule.range(0, 1, 11), std::logic_error);
}

TEST(World, PutsDedicatedServersBehindTheWorkers) {
  const World world{.workers = 5, .servers = 2};
  EXPECT_EQ(world.ranks(), 7);
  EXPECT_EQ(world.server_rank(0), 5);
  EXPECT_EQ(world.server_rank(1), 6);
}

TEST(World, SpreadsColocatedServersOverTheWorkers) {
  const World world{.workers = 8, .servers = 3, .colocated = true};
  EXPECT_EQ(world.ranks(), 8);
  EXPECT_EQ(world.server_rank(0), 0);
  EXPECT_EQ(world.server_rank(1), 2);
  EXPECT_EQ(world.server_rank(2), 5);
}

}  // namespace
}  // namespace hbench::schedule_test
