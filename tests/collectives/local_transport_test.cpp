#include "collectives/transport/local_transport.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "collectives/base/error.hpp"

namespace hbench::support::local_transport_test {
namespace {

using Clock = std::chrono::steady_clock;

std::string name_of_test() {
  return fmt::format("hbench-test-{}-{}", getpid(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
}

Seconds at_once(Rank) { return Seconds(0); }

void wait(Transport& transport, Transport::Request request) {
  while (!transport.test(request)) std::this_thread::yield();
}

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 1000);
  return data;
}

TEST(LocalTransport, CarriesMessagesOfAnyLength) {
  const auto a = make_local_transport(name_of_test(), 0, 2, at_once),
             b = make_local_transport(name_of_test(), 1, 2, at_once);
  for (const std::size_t bytes : {0U, 1U, 32'768U, 32'769U, 3'000'000U}) {
    const std::vector<std::byte> sent = numbered(bytes);
    std::vector<std::byte> got(bytes);
    const auto out = a->send(1, 5, sent);
    const auto in = b->receive(0, 5, got, nullptr, 0);
    bool left = false, landed = false;
    while (!left || !landed) {
      left = left || a->test(out);
      landed = landed || b->test(in);
    }
    EXPECT_EQ(got, sent) << bytes;
  }
}

TEST(LocalTransport, KeepsTheOrderOfASendersTagAndKeepsTagsApart) {
  const auto a = make_local_transport(name_of_test(), 0, 2, at_once),
             b = make_local_transport(name_of_test(), 1, 2, at_once);
  int first = 1, second = 2, other = 3, got = 0;
  for (const auto& [tag, number] : {std::pair(1, &first), std::pair(2, &other), std::pair(1, &second)})
    wait(*a, a->send(1, tag, as_message(*number)));
  wait(*b, b->receive(0, 2, as_message(got), nullptr, 0));
  EXPECT_EQ(got, 3);
  wait(*b, b->receive(0, 1, as_message(got), nullptr, 0));
  EXPECT_EQ(got, 1);
  wait(*b, b->receive(0, 1, as_message(got), nullptr, 0));
  EXPECT_EQ(got, 2);
}

TEST(LocalTransport, WaitsForAReceiverThatIsNotThereYetAndForOneThatDoesNotRead) {
  const auto a = make_local_transport(name_of_test(), 0, 2, at_once);
  constexpr int kMany = 5000;
  std::vector<int> numbers(kMany);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<Transport::Request> sends;
  for (int& number : numbers) sends.push_back(a->send(1, 1, as_message(number)));
  EXPECT_FALSE(a->test(sends.front()));
  const auto b = make_local_transport(name_of_test(), 1, 2, at_once);
  std::jthread sender([&] {
    for (const auto request : sends) wait(*a, request);
  });
  for (int expected = 0; expected < kMany; ++expected) {
    int got = -1;
    wait(*b, b->receive(0, 1, as_message(got), nullptr, 0));
    ASSERT_EQ(got, expected);
  }
}

// The kernel keeps some ten messages for a receiver that does not read.
TEST(LocalTransport, SendsWhatHadNoRoomWhileAnAnswerIsWaitedFor) {
  const auto a = make_local_transport(name_of_test(), 0, 2, at_once),
             b = make_local_transport(name_of_test(), 1, 2, at_once);
  constexpr int kMany = 1000;
  int number = 7, answer = 0;
  for (int i = 0; i < kMany; ++i) a->send(1, 1, as_message(number));
  std::jthread receiver([&] {
    int got = 0, done = 8;
    for (int i = 0; i < kMany; ++i) wait(*b, b->receive(0, 1, as_message(got), nullptr, 0));
    wait(*b, b->send(0, 2, as_message(done)));
  });
  wait(*a, a->receive(1, 2, as_message(answer), nullptr, 0));
  EXPECT_EQ(answer, 8);
}

TEST(LocalTransport, DelaysFromWhenAMessageWasSent) {
  const auto late = [](Rank from) { return Seconds(from == 0 ? 0.2 : 0); };
  const auto a = make_local_transport(name_of_test(), 0, 2, at_once),
             b = make_local_transport(name_of_test(), 1, 2, late);
  int number = 7, got = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) wait(*a, a->send(1, 1, as_message(number)));
  for (int i = 0; i < 3; ++i) wait(*b, b->receive(0, 1, as_message(got), nullptr, 0));
  const double seconds = seconds_since(begin);
  EXPECT_GE(seconds, 0.2);
  EXPECT_LT(seconds, 0.4) << "not one after the other";
}

TEST(LocalTransport, RefusesAMessageOfAnotherLengthAndForgetsWhatIsCancelled) {
  const auto a = make_local_transport(name_of_test(), 0, 2, at_once),
             b = make_local_transport(name_of_test(), 1, 2, at_once);
  int number = 7, got = 0;
  char small = 0;
  b->cancel(b->receive(0, 1, as_message(small), nullptr, 0));
  wait(*a, a->send(1, 1, as_message(number)));
  wait(*b, b->receive(0, 1, as_message(got), nullptr, 0));
  EXPECT_EQ(got, 7);
  wait(*a, a->send(1, 1, as_message(number)));
  EXPECT_THROW(wait(*b, b->receive(0, 1, as_message(small), nullptr, 0)), Error);
  EXPECT_THROW(make_local_transport(name_of_test(), 1, 2, at_once), Error) << "the name is taken";
}

}  // namespace
}  // namespace hbench::support::local_transport_test
