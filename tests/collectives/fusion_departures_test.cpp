#include <stdexcept>

#include "collectives/fusion/departures.hpp"
#include "tests/support/matchers.hpp"
namespace hbench::fusion_departures_test {
namespace {

TEST(Departures, AreCompleteWhenEveryByteHasLeft) {
  Departures departures({12, 0, 8});
  for (int step = 0; step < 2; ++step) {
    departures.begin_step();
    departures.leave({1, 2});
    departures.leave(Bucket::piece(0, 8, 12));
    EXPECT_FALSE(departures.complete());
    departures.leave(Bucket::piece(0, 0, 8));
    EXPECT_TRUE(departures.complete());
  }
  EXPECT_TRUE(Departures({}).complete());
}

TEST(Departures, NoticeWhatLeavesTwice) {
  Departures departures({12, 0});
  departures.leave({1});
  EXPECT_THROW(departures.leave({1}), std::logic_error);
  departures.leave(Bucket::piece(0, 0, 8));
  EXPECT_THROW(departures.leave({0}), std::logic_error);
}

TEST(Bucket, KnowsItsBytes) {
  const std::vector<std::int64_t> bytes{12, 0, 8};
  EXPECT_EQ((Bucket{0, 2}).bytes(bytes), 20);
  EXPECT_EQ(Bucket::piece(0, 4, 12).bytes(bytes), 8);
}

// Tensor 0 has elements 0 to 9 on server 0 and 10 to 14 on server 1, tensor 1 is on server 1.
TEST(ShardsOf, CutsAPieceOutOfItsTensor) {
  const std::vector<std::vector<Shard>> shards{{{0, 10}, {1, 5}}, {{1, 3}}};
  EXPECT_THAT(shards_of({0, 1}, shards), ElementsAre(Shard{0, 10}, Shard{1, 5}, Shard{1, 3}));
  EXPECT_THAT(shards_of(Bucket::piece(0, 16, 48), shards), ElementsAre(Shard{0, 6}, Shard{1, 2}));
  EXPECT_THAT(shards_of(Bucket::piece(0, 40, 60), shards), ElementsAre(Shard{1, 5}));
  EXPECT_THAT(shards_of(Bucket::piece(1, 0, 0), shards), IsEmpty());
}

}  // namespace
}  // namespace hbench::fusion_departures_test
