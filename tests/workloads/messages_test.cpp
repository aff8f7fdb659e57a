#include "workloads/engine/messages.hpp"

#include <numeric>

#include "tests/support/matchers.hpp"

namespace hbench::messages_test {
namespace {

TEST(Messages, TellTheTensorsOfAWholeModelInOneMessage) {
  std::vector<std::int32_t> tensors(467);  // ResNet-152
  std::iota(tensors.begin(), tensors.end(), 0);
  const auto announcements = to_sets<Announcement>(tensors);
  ASSERT_THAT(announcements, SizeIs(1));
  EXPECT_EQ(announcements[0].numbers(), tensors);
  EXPECT_THAT(to_sets<Order::Members>(tensors), SizeIs(1));
  EXPECT_EQ(sizeof(Order), 136U);
  EXPECT_EQ(sizeof(Announcement), 80U);
}

TEST(Messages, TakeOneForEachWindowOfTensors) {
  const auto sets = to_sets<BitSet<1>>({200, 3, 63, 64, 0});
  ASSERT_THAT(sets, SizeIs(3));
  EXPECT_THAT(sets[0].numbers(), ElementsAre(0, 3, 63));
  EXPECT_THAT(sets[1].numbers(), ElementsAre(64));
  EXPECT_THAT(sets[2].numbers(), ElementsAre(200));
  EXPECT_THAT(to_sets<BitSet<1>>({}), IsEmpty());
  EXPECT_THAT(BitSet<1>{}.numbers(), IsEmpty());
}

}  // namespace
}  // namespace hbench::messages_test
