// What the engine refuses of a plan whose collectives are within groups of ranks, before any rank starts.

#include <gtest/gtest.h>

#include "workloads/step/strategy.hpp"

namespace hbench::engine_groups_test {
namespace {

/// Trains alone and has one collective each iteration, within groups of two.
template <Carried carried, CollectiveKind collective>
StepPlan grouped_plan(const PlanRequest&) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::apply, .after = {{1}}},
           {.kind = TaskKind::collective,
            .collective = collective,
            .carried = carried,
            .groups = {.size = 2},
            .after = {{2}}}}};
}

using MakePlan = StepPlan (*)(const PlanRequest&);

std::string refusal_of(MakePlan plan, const char* algorithm, bool replays) {
  const Method method{.name = "by-groups", .plan = plan};
  const TrainingStrategy strategy{.method = {.method = &method}, .algorithm = parse_algorithm_rule(algorithm)};
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}), "") << "it can be simulated";
  return refuse_engine(strategy, replays);
}

TEST(RefuseEngineWithinGroups, TakesSumsWithinGroupsOfRanksAndNoMeans) {
  constexpr MakePlan kMeans = grouped_plan<Carried::parameters, CollectiveKind::all_reduce>;
  constexpr MakePlan kPartsOfMeans = grouped_plan<Carried::parameters, CollectiveKind::reduce_scatter>;
  constexpr MakePlan kSums = grouped_plan<Carried::gradients, CollectiveKind::all_reduce>;
  constexpr MakePlan kGathered = grouped_plan<Carried::parameters, CollectiveKind::all_gather>;
  constexpr const char* kNoMeans =
      "by-groups averages parameters within groups of ranks, and hbench's engine among all ranks alone: it is "
      "simulated only";
  struct Row {
    MakePlan plan;
    const char* algorithm;
    const char* refusal;
  };
  for (const Row& row : {Row{kMeans, "ring", kNoMeans}, Row{kPartsOfMeans, "ring", kNoMeans}, Row{kSums, "ring", ""},
                         Row{kGathered, "ring", ""}})
    for (const bool replays : {false, true})
      EXPECT_EQ(refusal_of(row.plan, row.algorithm, replays), row.refusal) << row.algorithm;
}

/// Its model is of ranks that fill nodes in order.
TEST(RefuseWithinGroups, TakesNoLibrarysCollectives) {
  const Method method{.name = "by-groups", .plan = grouped_plan<Carried::gradients, CollectiveKind::all_reduce>};
  const TrainingStrategy strategy{.method = {.method = &method}, .algorithm = parse_algorithm_rule("vendor")};
  EXPECT_EQ(refuse_strategy(strategy, {.workers = 4}),
            "by-groups has collectives within groups of ranks, and vendor has those among all alone; take ring");
}

}  // namespace
}  // namespace hbench::engine_groups_test
