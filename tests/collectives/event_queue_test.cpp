#include "collectives/network/event_queue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace hbench::event_queue_test {
namespace {

TEST(EventQueue, KeepsThoseOfOneTimeInTheOrderInWhichTheyWereAdded) {
  EventQueue<int> events;
  for (int i = 0; i < 3; ++i) events.push(2, i);
  events.push(1, 3);
  EXPECT_EQ(events.next(), 1);
  EXPECT_EQ(events.pop().what, 3);
  events.push(2, 4);
  for (const int expected : {0, 1, 2, 4}) EXPECT_EQ(events.pop().what, expected);
  EXPECT_TRUE(events.empty());
}

TEST(EventQueue, TakesWhatLiesBeforeTheLastEventFirst) {
  EventQueue<int> events;
  events.push(5, 0);
  events.push(7, 1);
  EXPECT_EQ(events.pop().what, 0);
  events.push(3, 2);
  events.push(4, 3);
  events.push(3, 4);
  EXPECT_EQ(events.next(), 3);
  for (const int expected : {2, 4, 3, 1}) EXPECT_EQ(events.pop().what, expected);
}

// The oracle is a sorted set of times and numbers. Some times are equal, some are before the last event's, as where a
// connection was free before its message came.
TEST(EventQueue, GivesTheOrderOfASortedSet) {
  std::mt19937_64 random(7);
  const auto draw = [&](int below) { return std::uniform_int_distribution(0, below - 1)(random); };
  for (int round = 0; round < 50; ++round) {
    EventQueue<int> events;
    std::set<std::pair<double, int>> expected;
    double now = 0;
    for (int made = 0; made < 2000 || !expected.empty();) {
      if (made < 2000 && (expected.empty() || draw(5) < 3)) {
        const double steps[] = {0, 1e-9, 3e-6, 0.25, 1e3};
        const double at = std::max(0.0, now + (draw(8) == 0 ? -1 : 1) * steps[draw(5)] * draw(4));
        events.push(at, made);
        expected.insert({at, made++});
      } else {
        ASSERT_EQ(events.next(), expected.begin()->first);
        const auto [at, number] = events.pop();
        ASSERT_EQ(std::pair(at, number), *expected.begin());
        expected.erase(expected.begin());
        now = at;
      }
      ASSERT_EQ(events.empty(), expected.empty());
    }
  }
}

}  // namespace
}  // namespace hbench::event_queue_test
