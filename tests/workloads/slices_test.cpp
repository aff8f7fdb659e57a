// The parts of a bucket in the order in which ranks add them up in several steps.

#include "workloads/engine/slices.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "workloads/methods/method.hpp"

namespace hbench::slices_test {
namespace {

using ::testing::ElementsAre;

/// Both scatters of a unit of zero++:2.
std::vector<Task> scatters() {
  std::vector<Task> found;
  for (const Task& task : parse_method("zero++:2").plan(true).tasks)
    if (!task.computes() && reduces(task.collective) && task.unit == 0) found.push_back(task);
  return found;
}

TEST(PartOrder, BringsTogetherWhatAPlaceOfANodeAddsUp) {
  const PartOrder within = part_order(scatters().at(0), 3, 6);
  EXPECT_THAT(within.sent, ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(within.left, ElementsAre(1, 3, 5));
  const PartOrder between = part_order(scatters().at(1), 3, 6);
  EXPECT_THAT(between.sent, ElementsAre(1, 3, 5));
  EXPECT_THAT(between.left, ElementsAre(3)) << "the rank's own";
}

TEST(PartOrder, IsOfScattersAmongOtherGroupsThanThoseThatShareOutTheModel) {
  const auto reorders = [](const char* method) {
    const StepPlan plan = parse_method(method).plan(true);
    return std::ranges::any_of(
        plan.tasks, [&](const Task& task) { return !task.computes() && reorders_parts(task, sharded(plan).groups); });
  };
  EXPECT_TRUE(reorders("zero++:2"));
  for (const char* method : {"zero:1", "fsdp", "hsdp:2", "hpz:2"}) EXPECT_FALSE(reorders(method)) << method;
}

// Seven elements in parts of 3, 2 and 2, of tensors of 4 and 3: the first part is the longest.
TEST(Slices, AreAllAsLongAsTheLongestAndComeBackWhereTheyWere) {
  std::vector<float> memory(7);
  std::iota(memory.begin(), memory.end(), 1.0F);
  const auto piece = [&](std::size_t first, std::size_t count) { return std::span(memory).subspan(first, count); };
  const std::vector<Slices::Part> parts{{piece(0, 3)}, {piece(3, 1), piece(4, 1)}, {piece(5, 2)}};
  Slices slices(host_device(), {.sent = {0, 2, 1}, .left = {2, 1}}, parts);
  std::vector<float> buffer(slices.elements(), -1);
  slices.pack(buffer);
  EXPECT_THAT(buffer, ElementsAre(1, 2, 3, 6, 7, 0, 4, 5, 0));
  for (float& each : buffer) each *= 10;
  slices.unpack(buffer);
  EXPECT_THAT(memory, ElementsAre(1, 2, 3, 40, 50, 60, 70)) << "what it is not left with stays as it was";
}

}  // namespace
}  // namespace hbench::slices_test
