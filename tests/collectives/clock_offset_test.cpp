#include "collectives/transport/host_place.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "tests/collectives/thread_ranks.hpp"

namespace hbench::support::clock_offset_test {
namespace {

Seconds real_time() {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

TEST(ClockOffset, IsHowFarEachRanksClockIsAheadOfTheFirst) {
  constexpr std::array<double, 3> kStarted{1000, -250.5, 86400};
  Endpoints endpoints = make_thread_endpoints(3);
  std::array<double, 3> ahead{};
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    const auto now = [&] { return real_time() + Seconds(kStarted[rank]); };
    ahead[rank] = clock_ahead_of_first(endpoint.control(), now, Seconds(30)).value;
  });
  EXPECT_EQ(ahead[0], 0);
  // The quickest of ten messages through memory, on a machine that may be busy.
  for (const std::size_t rank : {1U, 2U}) EXPECT_NEAR(ahead[rank], kStarted[rank] - kStarted[0], 0.05) << rank;
}

TEST(ClockOffset, IsTakenFromTheQuickestMessage) {
  Endpoints endpoints = make_thread_endpoints(2);
  double ahead = 0;
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    // Rank 0's clock says that all messages but the fifth take a second longer on their way back.
    int asked = 0;
    double late = 0;
    const auto slow = [&] {
      const bool answer = asked % 2 == 1;
      if (answer && asked / 2 != 4) late += 1;
      ++asked;
      return real_time() + Seconds(late);
    };
    if (endpoint.transport().rank() == 0)
      clock_ahead_of_first(endpoint.control(), slow, Seconds(30));
    else
      ahead = clock_ahead_of_first(endpoint.control(), real_time, Seconds(30)).value;
  });
  EXPECT_NEAR(ahead, -4, 0.05) << "four seconds late by then";
}

}  // namespace
}  // namespace hbench::support::clock_offset_test
