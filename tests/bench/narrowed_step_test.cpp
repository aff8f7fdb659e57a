// Whose band is mostly one thing that the user knows, of simulated steps.

#include <gtest/gtest.h>

#include "analysis/points/points.hpp"
#include "analysis/prediction/simulate.hpp"
#include "tests/bench/plan_example.hpp"

namespace hbench::narrowed_step_test {
namespace {

TEST(NarrowedStep, IsThatOfFullFastNodesAndOfFrameworksThatNobodyNames) {
  struct {
    const char *why, *profile, *preset;
    int gpus;
    double node_rate;
    std::optional<UnknownKind> kind;
  } const rows[] = {{"nobody names the framework", "aws-p5", "", 8, 0, UnknownKind::framework},
                    {"fast GPUs need much input", "aws-p5", "ddp", 8, 0, UnknownKind::input},
                    {"what the node makes is known", "aws-p5", "ddp", 8, 17'000, std::nullopt},
                    {"slow GPUs need little input", "hkbu-10gbe", "ddp", 4, 0, std::nullopt},
                    {"the network counts as well", "hkbu-10gbe", "ddp", 32, 0, std::nullopt}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    SweepRequest request = small_request();
    request.gpus = {row.gpus};
    request.profiles = {row.profile};
    request.node_rate = row.node_rate;
    if (*row.preset != '\0') {
      request.algorithms.clear();
      request.presets = {row.preset};
    }
    const Plan plan = plan_of(request);
    SimulatedRunner runner(plan.catalog);
    const CaseResult result = runner.run(plan.cases.at(0));
    const SimulatedStep step = runner.step(plan.cases.at(0));
    ASSERT_EQ(step.narrowed.has_value(), row.kind.has_value());
    const Point point = make_points({result}).front();
    ASSERT_EQ(point.narrowed.has_value(), row.kind.has_value());
    if (!row.kind) continue;
    EXPECT_EQ(point.narrowed->kind, *row.kind);
    EXPECT_GT(point.narrowed->band.low, *point.efficiency_low);
    EXPECT_GE(point.narrowed->band.stated, *point.efficiency - 1e-9);
    EXPECT_DOUBLE_EQ(point.narrowed->band.high, *point.efficiency_high) << "these things make a step only slower";
  }
}

}  // namespace
}  // namespace hbench::narrowed_step_test
