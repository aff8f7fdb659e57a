// Messages between ranks that share memory. One thread plays both ends.

#include "collectives/transport/shared_transport.hpp"

#include <unistd.h>

#include <optional>

#include "tests/support/matchers.hpp"

namespace hbench::shared_transport_test {
namespace {

class SharedMessages : public ::testing::Test {
 protected:
  static std::span<const std::byte> bytes(const int& value) { return std::as_bytes(std::span(&value, 1)); }
  static std::span<std::byte> bytes(int& value) { return std::as_writable_bytes(std::span(&value, 1)); }

  SharedMemory memory_ = SharedMemory::for_threads(SharedSegment::bytes(2, 16 << 20));
  SharedSegment first_{memory_, 2, 0};
  SharedSegment second_{memory_, 2, 1};
  std::optional<SharedTransport> sender_{first_};
  SharedTransport receiver_{second_};
};

TEST_F(SharedMessages, ArriveInOrderPerTagWhateverTheOrderOfTags) {
  const int values[] = {10, 20, 30};
  sender_->send(1, 5, bytes(values[0]));
  sender_->send(1, 6, bytes(values[1]));
  sender_->send(1, 5, bytes(values[2]));
  int six = 0;
  int five[2] = {};
  const auto of_six = receiver_.receive(0, 6, bytes(six), nullptr, 0);
  const auto first = receiver_.receive(0, 5, bytes(five[0]), nullptr, 0);
  const auto second = receiver_.receive(0, 5, bytes(five[1]), nullptr, 0);
  EXPECT_TRUE(receiver_.test(of_six));
  EXPECT_TRUE(receiver_.test(second));
  EXPECT_TRUE(receiver_.test(first));
  EXPECT_EQ(six, 20);
  EXPECT_THAT(five, ElementsAre(10, 30));
}

TEST_F(SharedMessages, AreDoneForTheSenderOnceTaken) {
  const int value = 1;
  int got = 0;
  const auto send = sender_->send(1, 0, bytes(value));
  EXPECT_FALSE(sender_->test(send));
  const auto receive = receiver_.receive(0, 0, bytes(got), nullptr, 0);
  EXPECT_TRUE(receiver_.test(receive));
  EXPECT_TRUE(sender_->test(send));
}

TEST_F(SharedMessages, WaitWhereMoreAreSentThanALaneOrAListOfReceiptsHolds) {
  constexpr int kMany = SharedSegment::kReceipts + 100;
  std::vector<int> values;
  for (int i = 0; i < kMany; ++i) values.push_back(i);
  std::vector<Transport::Request> sends;
  for (const int& value : values) sends.push_back(sender_->send(1, 0, bytes(value)));
  for (int i = 0; i < kMany; ++i) {
    int got = -1;
    const auto receive = receiver_.receive(0, 0, bytes(got), nullptr, 0);
    while (!receiver_.test(receive)) EXPECT_FALSE(sender_->test(sends.back()));
    EXPECT_EQ(got, i);
    EXPECT_TRUE(sender_->test(sends[static_cast<std::size_t>(i)]));
  }
}

// Whoever gives up on a message gets its receipt back once the receiver has seen it.
TEST_F(SharedMessages, MayBeWithdrawnMoreOftenThanThereAreReceipts) {
  const int value = 7;
  int never = 0, got = 0;
  const auto unanswered = receiver_.receive(0, 0, bytes(never), nullptr, 0);
  for (int i = 0; i < static_cast<int>(SharedSegment::kReceipts) + 100; ++i) {
    sender_->cancel(sender_->send(1, 0, bytes(value)));
    EXPECT_FALSE(receiver_.test(unanswered));
  }
  const auto last = sender_->send(1, 1, bytes(value));
  const auto received = receiver_.receive(0, 1, bytes(got), nullptr, 0);
  EXPECT_TRUE(receiver_.test(received));
  EXPECT_TRUE(sender_->test(last));
  EXPECT_EQ(got, value);
}

TEST_F(SharedMessages, MaySpinWhereTheMachineHasACoreForEachRank) {
  const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  for (const int ranks : {cores, cores + 1}) {
    const SharedMemory memory = SharedMemory::for_threads(SharedSegment::bytes(ranks, 1 << 16));
    EXPECT_EQ(SharedSegment(memory, ranks, 0).enough_cores(), ranks == cores);
  }
}

class Recorder final : public Sink {
 public:
  void take(std::span<const std::byte> payload, std::size_t message) override {
    at = payload.data();
    number = message;
  }
  const std::byte* at = nullptr;
  std::size_t number = 0;
};

TEST_F(SharedMessages, AreReadWhereTheyLie) {
  const std::span<std::byte> payload = first_.allocate(100);
  std::vector<std::byte> landing(100);
  Recorder recorder;
  sender_->send(1, 0, payload);
  const auto receive = receiver_.receive(0, 0, landing, &recorder, 7);
  EXPECT_TRUE(receiver_.test(receive));
  EXPECT_EQ(recorder.at, payload.data());
  EXPECT_EQ(recorder.number, 7U);
}

TEST_F(SharedMessages, AreNotReadOnceWithdrawn) {
  const int values[] = {1, 2};
  int got = 0;
  const auto send = sender_->send(1, 0, bytes(values[0]));
  sender_->cancel(send);
  const auto receive = receiver_.receive(0, 0, bytes(got), nullptr, 0);
  EXPECT_FALSE(receiver_.test(receive));
  sender_->send(1, 0, bytes(values[1]));
  EXPECT_TRUE(receiver_.test(receive));
  EXPECT_EQ(got, 2);
}

TEST_F(SharedMessages, AreWithdrawnWhenTheirSenderEnds) {
  const int value = 1;
  int got = 0;
  sender_->send(1, 0, bytes(value));
  sender_.reset();
  EXPECT_FALSE(receiver_.test(receiver_.receive(0, 0, bytes(got), nullptr, 0)));
}

TEST_F(SharedMessages, OfAnotherLengthAreRefusedAndReleaseTheirSender) {
  const int value = 1;
  std::vector<std::byte> shorter(2);
  const auto send = sender_->send(1, 0, bytes(value));
  const auto receive = receiver_.receive(0, 0, shorter, nullptr, 0);
  EXPECT_THROW(receiver_.test(receive), Error);
  EXPECT_TRUE(sender_->test(send));
}

TEST_F(SharedMessages, MayBeEmpty) {
  const auto send = sender_->send(1, 0, {});
  const auto receive = receiver_.receive(0, 0, {}, nullptr, 0);
  EXPECT_TRUE(receiver_.test(receive));
  EXPECT_TRUE(sender_->test(send));
}

TEST(SharedMemory, ServesAgainWhatWasReleased) {
  const SharedMemory memory = SharedMemory::for_threads(SharedSegment::bytes(1, 1 << 20));
  SharedSegment segment(memory, 1, 0);
  for (int i = 0; i < 1000; ++i) segment.release(segment.allocate(100000));
  EXPECT_THROW(segment.allocate(2 << 20), Error);
}

TEST(SharedMemory, HandsOutCacheLinesThatDoNotOverlap) {
  const SharedMemory memory = SharedMemory::for_threads(SharedSegment::bytes(2, 1 << 20));
  SharedSegment first(memory, 2, 0);
  SharedSegment second(memory, 2, 1);
  const std::span<std::byte> a = first.allocate(5);
  const std::span<std::byte> b = first.allocate(5000);
  const std::span<std::byte> c = second.allocate(5);
  for (const auto part : {a, b, c}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % kCacheLine, 0U);
  EXPECT_GE(b.data() - a.data(), static_cast<std::ptrdiff_t>(kCacheLine));
  EXPECT_NE(a.data(), c.data());
  EXPECT_TRUE(second.contains(a));
  EXPECT_FALSE(first.contains(std::as_bytes(std::span("elsewhere"))));
}

}  // namespace
}  // namespace hbench::shared_transport_test
