#include "collectives/endpoints/endpoint.hpp"

#include <gtest/gtest.h>

namespace hbench::schedule_cache_test {
namespace {

TEST(ScheduleCache, BuildsTheSameScheduleOnce) {
  ScheduleCache cache;
  const AlgorithmChoice ring = parse_algorithm("ring-segmented");
  const Schedule& schedule = cache.of(ring, {.workers = 4}, 2);
  EXPECT_EQ(schedule.transfers, ring.build({.workers = 4}, 2).transfers);
  EXPECT_EQ(&cache.of(parse_algorithm("ring-segmented"), {.workers = 4}, 2), &schedule);
}

TEST(ScheduleCache, TellsRequestsApartByAllThatMakesAnotherSchedule) {
  ScheduleCache cache;
  const World world{.workers = 4, .group = 2};
  const auto right = [&](const AlgorithmChoice& algorithm, const World& of, int segments) {
    const Schedule& schedule = cache.of(algorithm, of, segments);
    const Schedule expected = algorithm.build(of, segments);
    return schedule.collective == expected.collective && schedule.chunks == expected.chunks &&
           schedule.transfers == expected.transfers;
  };
  EXPECT_TRUE(right(parse_algorithm("ring-segmented"), world, 1));
  EXPECT_TRUE(right(parse_algorithm("ring-segmented"), world, 3));
  EXPECT_TRUE(right(parse_algorithm("ring-segmented"), {.workers = 5}, 1));
  EXPECT_TRUE(right(parse_algorithm("ring"), world, 1));
  EXPECT_TRUE(right(parse_algorithm("ring", CollectiveKind::all_gather), world, 1));
  EXPECT_TRUE(right(parse_algorithm("hierarchical:direct:ring"), world, 1));
  EXPECT_TRUE(right(parse_algorithm("hierarchical:ring:direct"), world, 1));
}

TEST(ScheduleCache, BuildsSchedulesWithShardsEachTime) {
  ScheduleCache cache;
  const AlgorithmChoice servers = parse_algorithm("ps");
  const World world{.workers = 2, .servers = 2};
  const std::vector<Shard> one{{.server = 1, .elements = 10}};
  const std::vector<Shard> two{{.server = 0, .elements = 4}, {.server = 1, .elements = 3}};
  const Schedule& even = cache.of(servers, world, 1);
  EXPECT_EQ(cache.of(servers, world, 1, one).offsets, servers.build(world, 1, one).offsets);
  EXPECT_EQ(cache.of(servers, world, 1, two).offsets, servers.build(world, 1, two).offsets);
  EXPECT_EQ(&cache.of(servers, world, 1), &even);
  EXPECT_TRUE(even.offsets.empty());
}

// Rings of 4 have 2 x 4 x 3 = 24 transfers: the second makes 48, more than 30, so that the third finds an empty cache.
TEST(ScheduleCache, ForgetsWhenItHoldsMoreThanItMay) {
  ScheduleCache cache(30);
  const World world{.workers = 4};
  const Schedule* first = &cache.of(parse_algorithm("ring"), world, 1);
  EXPECT_EQ(&cache.of(parse_algorithm("ring"), world, 1), first);
  const Schedule* second = &cache.of(parse_algorithm("direct"), world, 1);
  EXPECT_EQ(&cache.of(parse_algorithm("ring"), world, 1), first);
  EXPECT_EQ(&cache.of(parse_algorithm("direct"), world, 1), second);
  EXPECT_EQ(cache.of(parse_algorithm("ring"), {.workers = 3}, 1).transfers.size(), 12U);
  EXPECT_EQ(cache.of(parse_algorithm("direct"), {.workers = 3}, 1).transfers.size(), 12U);
  const Schedule& again = cache.of(parse_algorithm("ring"), world, 1);
  EXPECT_EQ(again.transfers, parse_algorithm("ring").build(world, 1).transfers);
  EXPECT_EQ(&cache.of(parse_algorithm("ring"), world, 1), &again);
}

}  // namespace
}  // namespace hbench::schedule_cache_test
