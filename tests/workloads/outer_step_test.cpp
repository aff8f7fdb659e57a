#include "workloads/optimizers/optimizer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/methods/method.hpp"

namespace hbench::outer_step_test {
namespace {

/// What torchft's DiLoCo does with two fragments of one parameter each, by turns: pytorch/torchft at 73dafea,
/// test_fixtures/torchft.diloco_regression_test.DiLoCoMockedUpdateTest.test_diloco_mocked_updates_0 to _5.json
/// (BSD-3-Clause). Both replicas have the parameters 1 and the gradient 2 in every step; the inner rate is 1, the outer
/// optimizer plain SGD of rate 2, and each fragment's turn comes after six steps.
struct Golden {
  int delay;                         ///< steps between deltas and their mean
  double alpha;                      ///< share of a rank's own parameters
  std::vector<float> first, second;  ///< parameters after each step, from none
};

const std::vector<float> kAlone{1, -1, -3, -5, -7, -9, -11, -13, -15, -17, -19, -21, -23, -25, -27, -29};

const std::vector<Golden>& torchft() {
  static const std::vector<Golden> all{
      {0,
       0,
       {1, -1, -3, -11, -13, -15, -17, -19, -21, -35, -37, -39, -41, -43, -45, -59},
       {1, -1, -3, -5, -7, -9, -23, -25, -27, -29, -31, -33, -47, -49, -51, -53}},
      {0,
       0.5,
       {1, -1, -3, -8, -10, -12, -14, -16, -18, -24.5, -26.5, -28.5, -30.5, -32.5, -34.5, -40.25},
       {1, -1, -3, -5, -7, -9, -17, -19, -21, -23, -25, -27, -32, -34, -36, -38}},
      {0, 1, kAlone, kAlone},
      {1,
       0,
       {1, -1, -3, -7, -9, -11, -13, -15, -17, -27, -29, -31, -33, -35, -37, -47},
       {1, -1, -3, -5, -7, -9, -19, -21, -23, -25, -27, -29, -39, -41, -43, -45}},
      {1,
       0.5,
       {1, -1, -3, -6, -8, -10, -12, -14, -16, -21.5, -23.5, -25.5, -27.5, -29.5, -31.5, -35.75},
       {1, -1, -3, -5, -7, -9, -15, -17, -19, -21, -23, -25, -29, -31, -33, -35}},
      {1, 1, kAlone, kAlone}};
  return all;
}

/// A fragment of one parameter, of plain SGD.
struct Fragment {
  explicit Fragment(const OuterUpdate& update) : step(update, original, {}) {}
  std::vector<float> values{1}, at_first{1}, changes{0};
  DeviceNumbers parameters{values}, original{at_first}, deltas{changes};
  OuterStep step;
};

TEST(OuterStep, FollowsTheTrajectoriesOfTorchft) {
  for (const Golden& golden : torchft()) {
    const std::string method = fmt::format("diloco:6:2:{}:{}:2:0", golden.delay, golden.alpha);
    SCOPED_TRACE(method);
    const StepPlan plan = parse_method(method).plan(true, {.elements = {1, 1}});
    const OuterUpdate update{
        .optimizer = parse_optimizer("sgd"), .rate = plan.outer->rate, .own_share = plan.outer->own_share};
    Fragment first(update), second(update);
    for (std::size_t step = 0; step < golden.first.size(); ++step) {
      EXPECT_EQ(first.values[0], golden.first[step]) << "after " << step << " steps";
      EXPECT_EQ(second.values[0], golden.second[step]) << "after " << step << " steps";
      for (const Task& task : plan.tasks) {
        if (!task.is_in(static_cast<int>(step))) continue;
        // Replicas are alike: their mean is what each has.
        Fragment& mine = task.unit == 0 ? first : second;
        if (task.kind == TaskKind::apply)
          for (Fragment* const each : {&first, &second}) each->values[0] -= 2;
        if (task.kind == TaskKind::delta) mine.step.take_deltas(mine.parameters, mine.deltas);
        if (task.kind == TaskKind::outer) mine.step.apply(mine.deltas, 1, mine.parameters);
      }
    }
  }
}

// m = d, x = o - rate (d + b m); then m = b m + d.
TEST(OuterStep, HasTheMomentumOfItsOptimizer) {
  std::vector<float> values{3}, at_first{3}, changes{0}, momentum{0};
  DeviceNumbers parameters(values), original(at_first), deltas(changes), state(momentum);
  OuterStep step({.optimizer = parse_optimizer("nesterov:0.5"), .rate = 0.5}, original, {&state});
  values[0] = 1;
  step.take_deltas(parameters, deltas);
  EXPECT_EQ(changes[0], 2);
  changes[0] = 2;  // the sum of two ranks
  step.apply(deltas, 2, parameters);
  EXPECT_EQ(values[0], 3 - 0.5 * (1 + 0.5 * 1));
  EXPECT_EQ(at_first[0], values[0]);
  values[0] -= 1;
  step.take_deltas(parameters, deltas);
  EXPECT_EQ(changes[0], 1);
  step.apply(deltas, 1, parameters);
  EXPECT_EQ(values[0], 2.25 - 0.5 * (1 + 0.5 * (0.5 * 1 + 1)));
}

}  // namespace
}  // namespace hbench::outer_step_test
