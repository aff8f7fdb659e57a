// Schedules on messages that begin and end together, over devices that do what they are told later.

#include <algorithm>
#include <numeric>

#include "collectives/base/error.hpp"
#include "collectives/program/grouped_program.hpp"
#include "collectives/program/rank_program.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/posted_groups.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::grouped_test {
namespace {

using namespace ::hbench::support;

constexpr Seconds kTimeout{60};

/// What is wrong with what `rank` ended with, twice.
std::string run_rank(Post& post, const Case& c, Rank rank) {
  LazyDevice device(static_cast<unsigned>(rank + 1));
  PostedGroups groups(post, rank, device);
  const Schedule schedule = support::schedule_of(c);
  const std::vector<std::byte> content = support::given(c, schedule, rank);
  const DeviceMemory memory = groups.device().allocate(content.size());
  const std::span<std::byte> buffer(memory.get(), content.size());
  GroupedProgram program(plan_for(schedule, rank), groups, {buffer, c.type, c.op});
  std::string wrong;
  for (int run = 0; run < 2 && wrong.empty(); ++run) {
    if (run > 0) program.restart();
    groups.device().write(content, buffer);
    wait_for(program, kTimeout, c.name());
    wrong = support::judge(c, schedule, rank, buffer);
  }
  return wrong;
}

std::string run_case(const Case& c) {
  Post post;
  std::vector<std::string> wrong(static_cast<std::size_t>(c.world.ranks()));
  {
    std::vector<std::jthread> ranks;
    for (Rank rank = 0; rank < c.world.ranks(); ++rank)
      ranks.emplace_back([&, rank] { wrong[static_cast<std::size_t>(rank)] = run_rank(post, c, rank); });
  }
  std::string all;
  for (const std::string& each : wrong) all += each;
  return all;
}

TEST(GroupedProgram, RunsEveryAlgorithmWithAwkwardCounts) {
  for (const int ranks : {1, 2, 3, 5})
    for (Case c : support::plain_cases(ranks))
      for (const std::int64_t elements : {0, 1, 7, 1009}) {
        c.elements = elements;
        c.op = elements == 7 ? ReduceOp::average : ReduceOp::sum;
        EXPECT_EQ(run_case(c), "") << c.name();
      }
}

TEST(GroupedProgram, RunsEveryTypeAndOperation) {
  for (Case c : support::plain_cases(3))
    if (c.algorithm.algorithm->name == "ring")
      for (const DataTypeEntry* type : data_types())
        for (const ReduceOpEntry* op : reduce_ops()) {
          c.type = type->type;
          c.op = op->op;
          c.elements = 30;
          EXPECT_EQ(run_case(c), "") << c.name();
        }
}

/// Several at once, which this rank looks at in an order of its own.
std::string run_together(Post& post, const std::vector<Case>& cases, Rank rank) {
  LazyDevice device(static_cast<unsigned>(rank + 1));
  PostedGroups groups(post, rank, device);
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::unique_ptr<GroupedProgram>> programs;
  for (const Case& c : cases) {
    const Schedule schedule = support::schedule_of(c);
    buffers.push_back(support::given(c, schedule, rank));
    programs.push_back(
        std::make_unique<GroupedProgram>(plan_for(schedule, rank), groups, Operand{buffers.back(), c.type, c.op}));
  }
  std::vector<std::size_t> left(cases.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);
  while (!left.empty()) {
    std::erase_if(left, [&](std::size_t i) { return programs[i]->progress(); });
    std::ranges::shuffle(left, random);
    std::this_thread::yield();
  }
  std::string wrong;
  for (std::size_t i = 0; i < cases.size(); ++i)
    wrong += support::judge(cases[i], support::schedule_of(cases[i]), rank, buffers[i]);
  return wrong;
}

TEST(GroupedProgram, EnqueuesSeveralAtOnceInOneOrderOnEveryRank) {
  const int ranks = 3;
  std::vector<Case> cases;
  for (Case c : support::plain_cases(ranks)) {
    c.elements = 100 + 17 * std::ssize(cases);
    cases.push_back(c);
  }
  Post post;
  std::vector<std::string> wrong(ranks);
  {
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] { wrong[static_cast<std::size_t>(rank)] = run_together(post, cases, rank); });
  }
  EXPECT_THAT(wrong, Each(""));
}

TEST(GroupedProgram, IsCancelledWhenAPeerNeverComes) {
  Post post;
  Case c = support::plain_cases(3).front();
  c.elements = 1000;
  LazyDevice device(1);
  PostedGroups groups(post, 0, device);
  std::vector<std::byte> memory(4000);
  GroupedProgram program(plan_for(support::schedule_of(c), 0), groups, {memory});
  EXPECT_THROW(wait_for(program, Seconds(0.05), c.name()), Error);
}

TEST(GroupedProgram, CountsWhatItSends) {
  Post post;
  Case c = support::plain_cases(2).front();
  c.elements = 10;
  std::vector<std::int64_t> sent(2);
  {
    std::vector<std::jthread> ranks;
    for (Rank rank = 0; rank < 2; ++rank)
      ranks.emplace_back([&, rank] {
        LazyDevice device(static_cast<unsigned>(rank + 1));
        PostedGroups groups(post, rank, device);
        std::vector<std::byte> memory(40);
        GroupedProgram program(plan_for(support::schedule_of(c), rank), groups, {memory});
        EXPECT_EQ(groups.byte_counts().sent(), 0);
        wait_for(program, kTimeout, c.name());
        EXPECT_EQ(program.waiting_for(), "");
        sent[static_cast<std::size_t>(rank)] = groups.byte_counts().sent();
      });
  }
  // A ring of two sends half of ten floats twice.
  EXPECT_EQ(c.algorithm.algorithm->name, "ring");
  EXPECT_EQ(sent, (std::vector<std::int64_t>{40, 40}));
}

}  // namespace
}  // namespace hbench::grouped_test
