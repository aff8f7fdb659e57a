#include "collectives/placement/placement.hpp"

#include <numeric>
#include <random>

#include "collectives/base/table.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::placement_test {
namespace {

using Placed = std::vector<std::vector<Shard>>;

Placed place(std::string_view name, std::vector<std::int64_t> tensors, int servers) {
  return find_entry(placements(), name, "placement").place(tensors, servers);
}

std::vector<std::int64_t> loads(const Placed& placed, int servers) {
  std::vector<std::int64_t> load(static_cast<std::size_t>(servers));
  for (const auto& shards : placed)
    for (const Shard& shard : shards) load.at(static_cast<std::size_t>(shard.server)) += shard.elements;
  return load;
}

/// VGG-16 (Simonyan and Zisserman 2015) in backward order: weights and biases.
std::vector<std::int64_t> vgg16() {
  const std::vector<std::int64_t> inputs{3, 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512};
  const std::vector<std::int64_t> outputs{64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512};
  std::vector<std::int64_t> forward;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    forward.push_back(9 * inputs[i] * outputs[i]);
    forward.push_back(outputs[i]);
  }
  for (const auto& [in, out] : {std::pair{25088, 4096}, {4096, 4096}, {4096, 1000}}) {
    forward.push_back(std::int64_t{in} * out);
    forward.push_back(out);
  }
  return {forward.rbegin(), forward.rend()};
}

TEST(Placements, AreListedInTheDocumentedOrder) {
  EXPECT_THAT(names_of(placements()), ElementsAre("greedy", "round-robin", "sliced"));
  for (const Placement* placement : placements()) {
    EXPECT_THAT(placement->summary, Not(IsEmpty()));
    EXPECT_THAT(placement->citation, Not(IsEmpty()));
  }
}

TEST(Placements, PlaceEveryElementOnceOnAServerThatExists) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> tensor_count(0, 40);
  std::uniform_int_distribution<std::int64_t> large(0, 5'000'000);
  std::uniform_int_distribution<std::int64_t> small(0, 3);
  for (const Placement* placement : placements())
    for (int servers = 1; servers <= 9; ++servers)
      for (int trial = 0; trial < 50; ++trial) {
        std::vector<std::int64_t> tensors(static_cast<std::size_t>(tensor_count(random)));
        for (auto& elements : tensors) elements = trial % 2 == 0 ? large(random) : small(random);
        const Placed placed = placement->place(tensors, servers);
        ASSERT_EQ(placed.size(), tensors.size()) << placement->name;
        for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
          std::int64_t elements = 0;
          for (const Shard& shard : placed[tensor]) {
            ASSERT_GE(shard.server, 0) << placement->name;
            ASSERT_LT(shard.server, servers) << placement->name;
            ASSERT_GE(shard.elements, 0) << placement->name;
            elements += shard.elements;
          }
          ASSERT_EQ(elements, tensors[tensor]) << placement->name << ", tensor " << tensor;
        }
        ASSERT_EQ(placed, placement->place(tensors, servers)) << placement->name << " is not deterministic";
      }
}

TEST(Vgg16, LayoutHasThePublishedSize) {
  const auto tensors = vgg16();
  EXPECT_EQ(tensors.size(), 32U);
  EXPECT_EQ(std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0}), 138'357'544);
}

TEST(Greedy, TakesTheLargestFirstAndTheLowerServerOnATie) {
  // 9 -> 0, 7 -> 1, 5 -> 2, 5 -> 2? no: 2 has 5, 1 has 7: the second 5 goes to 2; 4 -> 1; 1 -> 0
  EXPECT_THAT(place("greedy", {1, 5, 9, 5, 7, 4}, 3),
              ElementsAre(ElementsAre(Shard{0, 1}), ElementsAre(Shard{2, 5}), ElementsAre(Shard{0, 9}),
                          ElementsAre(Shard{2, 5}), ElementsAre(Shard{1, 7}), ElementsAre(Shard{1, 4})));
  EXPECT_THAT(place("greedy", {3, 3, 3}, 2),
              ElementsAre(ElementsAre(Shard{0, 3}), ElementsAre(Shard{1, 3}), ElementsAre(Shard{0, 3})));
}

TEST(Greedy, CannotSplitTheFirstDenseLayerOfVgg16) {
  const auto load = loads(place("greedy", vgg16(), 4), 4);
  EXPECT_EQ(*std::ranges::max_element(load), 102'760'448);
  EXPECT_EQ(load[0], 102'760'448);
  EXPECT_EQ(std::accumulate(load.begin(), load.end(), std::int64_t{0}), 138'357'544);
}

TEST(RoundRobin, DealsInCreationOrderWhichIsTheReverseOfBackward) {
  EXPECT_THAT(place("round-robin", {10, 20, 30, 40}, 3),
              ElementsAre(ElementsAre(Shard{0, 10}), ElementsAre(Shard{2, 20}), ElementsAre(Shard{1, 30}),
                          ElementsAre(Shard{0, 40})));
}

TEST(Sliced, CutsAtBytePsSizeAndDealsFullSlicesInTurnAcrossTensors) {
  EXPECT_THAT(place("sliced", {1'024'000, 2'048'000, 3'072'000}, 4),
              ElementsAre(ElementsAre(Shard{0, 1'024'000}), ElementsAre(Shard{1, 1'024'000}, Shard{2, 1'024'000}),
                          ElementsAre(Shard{3, 1'024'000}, Shard{0, 1'024'000}, Shard{1, 1'024'000})));
  EXPECT_THAT(place("sliced", {1'024'001, 5, 7}, 2), ElementsAre(ElementsAre(Shard{0, 1'024'000}, Shard{1, 1}),
                                                                 ElementsAre(Shard{1, 5}), ElementsAre(Shard{1, 7})));
}

TEST(Sliced, LoadsDifferByAtMostOneSlice) {
  for (int servers = 2; servers <= 16; ++servers) {
    const auto load = loads(place("sliced", vgg16(), servers), servers);
    const auto [least, most] = std::ranges::minmax_element(load);
    EXPECT_LE(*most - *least, 1'024'000) << servers;
  }
}

TEST(Sliced, IsEvenWhereEveryThirdTensorIsLargeAndThereAreThreeServers) {
  std::vector<std::int64_t> tensors;
  for (int layer = 0; layer < 30; ++layer) tensors.insert(tensors.end(), {64, 64, 900'000});
  EXPECT_THAT(loads(place("sliced", tensors, 3), 3), Each(::testing::Lt(9'010'000)));
}

}  // namespace
}  // namespace hbench::placement_test
