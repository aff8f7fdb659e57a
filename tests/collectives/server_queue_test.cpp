#include "collectives/transport/emulated_transport.hpp"

#include <gtest/gtest.h>

namespace hbench::support::server_queue_test {
namespace {

using std::chrono::milliseconds;

/// Milliseconds after an arbitrary begin.
class Queue {
 public:
  long handles(int arrived, int on_the_link, int work) {
    return after(queue_.received(begin_ + milliseconds(arrived), milliseconds(on_the_link), milliseconds(work)));
  }
  long sends(int at, int work) { return after(queue_.sent(begin_ + milliseconds(at), milliseconds(work))); }

 private:
  long after(ServerQueue::Clock::time_point time) const {
    return std::chrono::duration_cast<milliseconds>(time - begin_).count();
  }

  ServerQueue::Clock::time_point begin_ = ServerQueue::Clock::now();
  ServerQueue queue_;
};

TEST(ServerQueue, WorksWhileAMessageArrives) {
  EXPECT_EQ(Queue().handles(10, 10, 15), 15);
  EXPECT_EQ(Queue().handles(10, 10, 5), 5) << "it is all there at 10";
}

// Four messages of 10 ms share a link from 0 to 40: the server, which takes 12 ms for each, has worked since 0.
TEST(ServerQueue, HasHandledTheBytesOfMessagesThatArriveTogether) {
  Queue together;
  EXPECT_EQ(together.handles(40, 10, 12), 42);
  EXPECT_EQ(together.handles(40, 10, 12), 44);
  EXPECT_EQ(together.handles(40, 10, 12), 46);
  EXPECT_EQ(together.handles(40, 10, 12), 48);
  Queue in_turn;
  for (const int arrived : {10, 20, 30}) in_turn.handles(arrived, 10, 12);
  EXPECT_EQ(in_turn.handles(40, 10, 12), 48) << "no other than one after the other";
}

TEST(ServerQueue, RestsWhereNothingArrives) {
  Queue queue;
  EXPECT_EQ(queue.handles(10, 10, 12), 12);
  EXPECT_EQ(queue.handles(100, 10, 12), 102);
}

TEST(ServerQueue, HandlesOneMessageAfterTheOther) {
  Queue queue;
  EXPECT_EQ(queue.handles(10, 10, 1000), 1000);
  EXPECT_EQ(queue.handles(500, 10, 10), 1010);
  EXPECT_EQ(queue.handles(2000, 10, 10), 2000) << "which it began with at 1990";
}

TEST(ServerQueue, HandlesWhatItSendsFromWhenItIsSent) {
  Queue queue;
  EXPECT_EQ(queue.sends(100, 12), 112);
  EXPECT_EQ(queue.sends(100, 12), 124);
  EXPECT_EQ(queue.sends(130, 12), 142);
}

// 0 to 10 and 11 to 21 on the link, and a send between that takes nothing of it: the third piece of work begins at 11
// at the soonest, and the server is busy from 0 to 36.
TEST(ServerQueue, SendsWithoutTheLinkByWhichItReceives) {
  Queue queue;
  EXPECT_EQ(queue.handles(10, 10, 12), 12);
  EXPECT_EQ(queue.sends(11, 12), 24);
  EXPECT_EQ(queue.handles(21, 10, 12), 36);
  EXPECT_EQ(queue.handles(50, 10, 12), 52) << "at rest since 36, it began at 40";
  EXPECT_EQ(queue.handles(51, 10, 12), 60) << "its 10 ms were 50 to 51 and 31 to 40, while the server rested since 36";
}

TEST(ServerQueue, ForgetsNoWorkOfThousandsOfMessages) {
  Queue queue;
  long done = 0;
  for (int message = 1; message <= 5000; ++message) done = queue.handles(message, 1, 2);
  EXPECT_EQ(done, 2 * 5000);
}

// The first was there at 10, and three of 20 ms at 50: 70 ms of the link that end at 50 began at -20.
TEST(ServerQueue, PacksWhatCannotHaveComeSinceBeforeWhatCameFirst) {
  Queue queue;
  EXPECT_EQ(queue.handles(10, 10, 30), 30);
  queue.handles(50, 20, 30);
  queue.handles(50, 20, 30);
  EXPECT_EQ(queue.handles(50, 20, 30), -20 + 4 * 30);
}

}  // namespace
}  // namespace hbench::support::server_queue_test
