#include "collectives/transport/doorbell.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/shared_memory.hpp"
#include "tests/collectives/shared_ranks.hpp"

namespace hbench::doorbell_test {
namespace {

using namespace std::chrono_literals;

// Where a ring is lost, these tests never end.

TEST(Doorbell, KeepsARingThatComesBeforeTheWait) {
  DoorbellState state{};
  FutexDoorbell doorbell(state);
  const Doorbell::Ticket ticket = doorbell.listen();
  doorbell.ring();
  doorbell.wait(ticket, Doorbell::kForever);
}

TEST(Doorbell, WakesAListenerThatSleeps) {
  DoorbellState state{};
  FutexDoorbell doorbell(state);
  std::jthread listener([&] { doorbell.wait(doorbell.listen(), Doorbell::kForever); });
  std::this_thread::sleep_for(20ms);
  while (state.rings.load() == 0) doorbell.ring();
}

TEST(Doorbell, SleepsNoLongerThanAsked) {
  DoorbellState state{};
  FutexDoorbell doorbell(state);
  doorbell.wait(doorbell.listen(), 1ms);
  doorbell.wait(doorbell.listen(), 0ns);
  doorbell.wait(doorbell.listen(), -1s);
}

TEST(Doorbell, CostsNothingWhileNobodyListens) {
  DoorbellState state{};
  ring(state);
  EXPECT_EQ(state.rings.load(), 0U);
}

/// Passes `rounds` turns on to the other side, `own` being the turns that it was given.
void play(Doorbell& own_bell, std::atomic<int>& own, Doorbell& other_bell, std::atomic<int>& other, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    while (true) {
      const Doorbell::Ticket ticket = own_bell.listen();
      if (own.load() >= round) break;
      own_bell.wait(ticket, Doorbell::kForever);
    }
    other.store(round);
    other_bell.ring();
  }
}

struct Game {
  std::array<DoorbellState, 2> states;
  std::array<std::atomic<int>, 2> turns;
};

TEST(Doorbell, LosesNoRingBetweenThreads) {
  constexpr int kRounds = 5000;
  Game game{};
  FutexDoorbell a(game.states[0]), b(game.states[1]);
  std::jthread other([&] { play(b, game.turns[1], a, game.turns[0], kRounds); });
  // The first turn of the other side is this one's to give.
  game.turns[1].store(1);
  b.ring();
  for (int round = 2; round <= kRounds; ++round) {
    while (true) {
      const Doorbell::Ticket ticket = a.listen();
      if (game.turns[0].load() >= round - 1) break;
      a.wait(ticket, Doorbell::kForever);
    }
    game.turns[1].store(round);
    b.ring();
  }
}

TEST(Doorbell, RingsFromAnotherProcess) {
  const SharedMemory memory = SharedMemory::create(sizeof(Game));
  auto& game = *reinterpret_cast<Game*>(memory.data());
  FutexDoorbell doorbell(game.states[0]);
  const pid_t child = fork();
  if (child == 0) {
    while (game.states[0].rings.load() == 0) ring(game.states[0]);
    _exit(0);
  }
  doorbell.wait(doorbell.listen(), Doorbell::kForever);
  waitpid(child, nullptr, 0);
}

/// Rings of a message's receiver and, once it is taken, of its sender.
void expect_rings(const std::vector<std::unique_ptr<Endpoint>>& endpoints) {
  Doorbell& sender = *endpoints[0]->doorbell();
  Doorbell& receiver = *endpoints[1]->doorbell();
  int value = 7;
  int landing = 0;
  const Doorbell::Ticket posted = receiver.listen();
  const Doorbell::Ticket taken = sender.listen();
  const auto sent = endpoints[0]->transport().send(1, 5, as_message(value));
  receiver.wait(posted, Doorbell::kForever);
  const auto received = endpoints[1]->transport().receive(0, 5, as_message(landing));
  EXPECT_TRUE(endpoints[1]->transport().test(received));
  sender.wait(taken, Doorbell::kForever);
  EXPECT_TRUE(endpoints[0]->transport().test(sent));
  EXPECT_EQ(landing, 7);
}

TEST(Doorbell, IsRungByMessagesBetweenThreads) { expect_rings(make_thread_endpoints(2)); }

TEST(Doorbell, IsRungByMessagesInSharedMemory) { expect_rings(support::make_shared_thread_endpoints(2, 1 << 16)); }

/// Nobody looks at messages of a rank that stops the job.
void expect_ring_when_stopped(const std::vector<std::unique_ptr<Endpoint>>& endpoints) {
  Doorbell& other = *endpoints[1]->doorbell();
  const Doorbell::Ticket ticket = other.listen();
  EXPECT_ANY_THROW(endpoints[0]->abort(1));
  other.wait(ticket, Doorbell::kForever);
}

TEST(Doorbell, IsRungWhenTheJobIsStopped) {
  expect_ring_when_stopped(make_thread_endpoints(2));
  expect_ring_when_stopped(support::make_shared_thread_endpoints(2, 1 << 16));
}

}  // namespace
}  // namespace hbench::doorbell_test
