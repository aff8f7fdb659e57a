#include "analysis/prediction/strategies_asked.hpp"

#include <set>

#include "tests/support/matchers.hpp"
#include "workloads/methods/method.hpp"

namespace hbench::method_search_test {
namespace {

TEST(MethodSearch, TriesEachMethodOnceAndTheSynchronousOneFirst) {
  for (const int gpus : {1, 2, 6, 8, 64, 512}) {
    const std::vector<std::string> methods = methods_to_search(gpus, 8);
    EXPECT_EQ(methods.front(), "synchronous");
    std::set<std::string> different;
    for (const std::string& text : methods) different.insert(parse_method(text).text());
    EXPECT_EQ(different.size(), methods.size()) << gpus << " GPUs";
  }
}

TEST(MethodSearch, TriesWhatMakesTheSameUpdatesAlone) {
  for (const std::string& text : methods_to_search(64, 8)) {
    const MethodChoice method = parse_method(text);
    EXPECT_TRUE(method.in_lockstep()) << text;
    EXPECT_EQ(method.plan(true).cycle(), 1) << text;
  }
}

TEST(MethodSearch, KeepsTensorGroupsWithinNodesAndReplicasWhole) {
  for (const int gpus : {8, 24, 64})
    for (const std::string& text : methods_to_search(gpus, 8)) {
      const ModelDivision division = parse_method(text).division;
      EXPECT_LE(division.tensor, 8) << text;
      EXPECT_EQ(gpus % division.ranks(), 0) << text << " on " << gpus;
    }
}

TEST(MethodSearch, BeginsWithTwoRanksForAModel) {
  EXPECT_THAT(methods_to_search(64, 8), IsSupersetOf({"tensor:2", "pipeline:2:4:1", "tensor:2+zero:1"}));
  EXPECT_THAT(methods_to_search(6, 8), Not(Contains("tensor:4"))) << "which 6 GPUs are no multiple of";
}

TEST(MethodSearch, InterleavesTheStagesOfPipelines) {
  EXPECT_THAT(methods_to_search(64, 8), IsSupersetOf({"tensor:8+pipeline:4:8:1", "tensor:8+pipeline:4:8:4"}));
}

TEST(MethodSearch, ShardsWithinNodesWhereThereAreSeveral) {
  EXPECT_THAT(methods_to_search(64, 8), Contains("hsdp:8"));
  EXPECT_THAT(methods_to_search(8, 8), Not(Contains(StartsWith("hsdp"))));
  EXPECT_THAT(methods_to_search(64, 1), Not(Contains(StartsWith("hsdp"))));
}

}  // namespace
}  // namespace hbench::method_search_test
