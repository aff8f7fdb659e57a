#include "collectives/transport/emulated_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numeric>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/thread_ranks.hpp"

namespace hbench::support::emulated_transport_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kPatience{30};

/// Two ranks on one node and a third on another.
EmulatedCosts costs_of_three() {
  EmulatedCosts costs;
  costs.local = {.latency = Seconds(0.02), .low_latency = Seconds(0)};
  costs.network = {.latency = Seconds(0.05), .low_latency = Seconds(0)};
  costs.node_of_rank = {0, 0, 1};
  costs.server_seconds_per_byte = {0, 0, 0};
  return costs;
}

/// How long a message of `bytes` from rank `from` takes to rank `to`, which waits for it, since before either began;
/// `kind` of both.
double time_of_message(const EmulatedCosts& costs, Rank from, Rank to, std::size_t bytes,
                       TransferKind kind = TransferKind::copy) {
  Endpoints endpoints = make_thread_endpoints(static_cast<int>(costs.node_of_rank.size()));
  double seconds = 0;
  const auto begin = Clock::now();
  run_ranks(endpoints, [&](Endpoint& inner) {
    const auto transport = make_emulated_transport(inner.transport(), costs);
    std::vector<std::byte> data(bytes, std::byte{7});
    transport->next_is(kind);
    if (transport->rank() == from) {
      const auto request = transport->send(to, 1, data);
      while (!transport->test(request)) std::this_thread::yield();
    }
    if (transport->rank() == to) {
      std::ranges::fill(data, std::byte{0});
      const auto request = transport->receive(from, 1, data);
      while (!transport->test(request)) std::this_thread::yield();
      seconds = seconds_since(begin);
      for (const std::byte byte : data) ASSERT_EQ(byte, std::byte{7});
    }
  });
  return seconds;
}

TEST(EmulatedTransport, MessagesTakeNoLessThanTheirLatency) {
  EXPECT_GE(time_of_message(costs_of_three(), 0, 1, 1), 0.02);
  EXPECT_GE(time_of_message(costs_of_three(), 0, 2, 1), 0.05);
  EXPECT_GE(time_of_message(costs_of_three(), 2, 1, 0), 0.05) << "an empty one too";
}

TEST(EmulatedTransport, ShortMessagesTakeTheLowLatencyAndTheTimeOfTheirBytes) {
  const EmulatedCosts::Hop hop{.latency = Seconds(1), .low_latency = Seconds(0.25), .seconds_per_byte = 0.001};
  EmulatedCosts costs;
  costs.network = hop;
  costs.local = {.latency = Seconds(3)};
  EXPECT_DOUBLE_EQ(costs.latency(false, 100).value, 0.35);
  EXPECT_DOUBLE_EQ(costs.latency(false, 10'000).value, 1) << "the other protocol is sooner";
  EXPECT_DOUBLE_EQ(costs.latency(true, 100).value, 3) << "there is one protocol";
}

TEST(EmulatedTransport, WhatIsNoticedLateIsTakenOffTheLatency) {
  EmulatedCosts costs = costs_of_three();
  costs.network.latency = Seconds(10);
  costs.noticed_late = Seconds(9.95);
  EXPECT_GE(time_of_message(costs, 0, 2, 1), 0.05);
  EXPECT_LT(time_of_message(costs, 0, 2, 1), 5);
}

TEST(EmulatedTransport, AServerHandlesWhatIsPushedToItAndPulledFromIt) {
  EmulatedCosts costs = costs_of_three();
  costs.network.latency = Seconds(0);
  costs.server_seconds_per_byte = {0, 0, 0.001};
  EXPECT_GE(time_of_message(costs, 0, 2, 100, TransferKind::reduce), 0.1) << "a push";
  EXPECT_GE(time_of_message(costs, 2, 0, 100, TransferKind::copy), 0.1) << "a pull";
}

TEST(EmulatedTransport, AServerThatIsAWorkerTooHandlesNotWhatThisOneSendsAndGets) {
  EmulatedCosts costs = costs_of_three();
  costs.network.latency = Seconds(0);
  costs.server_seconds_per_byte = {0, 0, 1};
  EXPECT_LT(time_of_message(costs, 2, 0, 100, TransferKind::reduce), 10) << "its own push to another server";
  EXPECT_LT(time_of_message(costs, 0, 2, 100, TransferKind::copy), 10) << "its own pull from another server";
  costs.groups = true;
  costs.server_seconds_per_byte = {1, 0, 0};
  EXPECT_LT(time_of_message(costs, 1, 0, 100, TransferKind::reduce), 10) << "within a group";
}

TEST(EmulatedTransport, AServerHandlesOneMessageAfterTheOther) {
  EmulatedCosts costs = costs_of_three();
  costs.network.latency = costs.local.latency = Seconds(0);
  costs.server_seconds_per_byte = {0, 0, 0.001};
  Endpoints endpoints = make_thread_endpoints(3);
  double seconds = 0;
  run_ranks(endpoints, [&](Endpoint& inner) {
    const auto transport = make_emulated_transport(inner.transport(), costs);
    std::array<std::byte, 100> first{}, second{};
    transport->next_is(TransferKind::reduce);
    if (transport->rank() < 2) {
      const auto request = transport->send(2, 1, first);
      while (!transport->test(request)) std::this_thread::yield();
      return;
    }
    const auto begin = Clock::now();
    const auto one = transport->receive(0, 1, first);
    const auto two = transport->receive(1, 1, second);
    while (!transport->test(one)) std::this_thread::yield();
    while (!transport->test(two)) std::this_thread::yield();
    seconds = seconds_since(begin);
  });
  EXPECT_GE(seconds, 0.2);
}

TEST(EmulatedTransport, LatenciesOfMessagesThatFollowEachOtherOverlap) {
  EmulatedCosts costs = costs_of_three();
  costs.network.latency = Seconds(0.2);
  constexpr int kMessages = 20;
  Endpoints endpoints = make_thread_endpoints(3);
  double seconds = 0;
  run_ranks(endpoints, [&](Endpoint& inner) {
    const auto transport = make_emulated_transport(inner.transport(), costs);
    std::array<int, kMessages> numbers{};
    std::vector<Transport::Request> requests;
    const auto begin = Clock::now();
    if (transport->rank() == 0) {
      std::iota(numbers.begin(), numbers.end(), 1);
      for (int& number : numbers) requests.push_back(transport->send(2, 1, as_message(number)));
    }
    if (transport->rank() == 2)
      for (int& number : numbers) requests.push_back(transport->receive(0, 1, as_message(number)));
    for (const auto request : requests)
      while (!transport->test(request)) std::this_thread::yield();
    if (transport->rank() != 2) return;
    seconds = seconds_since(begin);
    for (int i = 0; i < kMessages; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i + 1);
  });
  EXPECT_GE(seconds, 0.2);
  EXPECT_LT(seconds, 0.2 * kMessages / 2) << "not one after the other";
}

TEST(EmulatedTransport, ACancelledMessageIsForgotten) {
  EmulatedCosts costs = costs_of_three();
  Endpoints endpoints = make_thread_endpoints(3);
  run_ranks(endpoints, [&](Endpoint& inner) {
    if (inner.transport().rank() != 0) return;
    const auto transport = make_emulated_transport(inner.transport(), costs);
    int landing = 0;
    transport->cancel(transport->receive(1, 1, as_message(landing)));
    const auto again = transport->receive(1, 1, as_message(landing));
    EXPECT_FALSE(transport->test(again));
    transport->cancel(again);
  });
}

TEST(EmulatedEndpoint, CarriesCollectivesWhoseResultIsTheSame) {
  EmulatedCosts costs = costs_of_three();
  costs.local.latency = costs.network.latency = Seconds(1e-4);
  for (const char* name : {"ring", "recursive-doubling", "direct"}) {
    Endpoints endpoints = make_thread_endpoints(3);
    const Schedule schedule = parse_algorithm_rule(name).at(1).build({.workers = 3}, 1);
    run_ranks(endpoints, [&](Endpoint& inner) {
      const auto endpoint = make_emulated_endpoint(inner, costs);
      const auto rank = static_cast<float>(endpoint->transport().rank());
      std::vector<float> values(1000);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = (rank + 1) * static_cast<float>(i);
      const auto operation = endpoint->prepare(schedule, Operand::of(values), nullptr);
      while (!operation->progress()) std::this_thread::yield();
      for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 6 * static_cast<float>(i)) << name;
    });
  }
}

}  // namespace
}  // namespace hbench::support::emulated_transport_test
