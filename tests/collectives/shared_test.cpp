// Ranks that share memory, as threads of this process on the same protocol as processes.

#include <gtest/gtest-spi.h>

#include <chrono>
#include <numeric>
#include <stdexcept>

#include "collectives/base/table.hpp"
#include "collectives/endpoints/shared_one_pass.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/shared_ranks.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::shared_test {
namespace {

using namespace ::hbench::support;

/// Long enough for a sanitizer on a busy machine; whoever waits so long hangs.
constexpr Seconds kTimeout{120};
constexpr std::size_t kPart = 64 << 20;
constexpr std::int64_t kLargest = 100003;
constexpr std::size_t kLargestBytes = kLargest * sizeof(double);

Schedule schedule_called(std::string_view name, const World& world) { return parse_algorithm(name).build(world, 1); }

Schedule direct(int ranks) { return schedule_called("direct", {.workers = ranks}); }

/// Where buffers lie.
enum class Where { inside, outside, mixed };

/// One rank's buffers.
class Memory {
 public:
  Memory(Endpoint& endpoint, Where where) : outside_(kLargestBytes) {
    const bool inside = where == Where::inside || (where == Where::mixed && endpoint.transport().rank() % 2 == 0);
    buffer_ = inside ? endpoint.allocate(kLargestBytes) : std::span(outside_);
  }
  std::span<std::byte> of(const std::vector<std::byte>& content) const {
    std::ranges::copy(content, buffer_.begin());
    return buffer_.first(content.size());
  }

 private:
  std::vector<std::byte> outside_;
  std::span<std::byte> buffer_;
};

void run_case(Endpoint& endpoint, const Memory& memory, const Case& c) {
  const Rank rank = endpoint.transport().rank();
  const Schedule schedule = support::schedule_of(c);
  const std::span<std::byte> buffer = memory.of(support::given(c, schedule, rank));
  const auto operation = endpoint.prepare(schedule, {buffer, c.type, c.op}, c.compressor.encoding().codec);
  wait_for(*operation, kTimeout, c.name());
  const std::string wrong = support::judge(c, schedule, rank, buffer);
  if (!wrong.empty()) throw std::runtime_error(wrong);
}

void run_cases(Endpoints& endpoints, Where where, const std::vector<Case>& cases) {
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    const Memory memory(endpoint, where);
    for (const Case& c : cases) run_case(endpoint, memory, c);
  });
}

/// In one pass: every type and operation; the others, which RankProgram runs as on every transport: one of each.
std::vector<Case> cases_of(int ranks) {
  std::vector<Case> cases;
  for (Case c : support::plain_cases(ranks)) {
    const bool one_pass = has_one_pass_form(c.algorithm.build(c.world, 1));
    for (const DataTypeEntry* type : data_types())
      for (const ReduceOpEntry* op : reduce_ops())
        for (const std::int64_t elements : support::awkward_counts(ranks)) {
          const bool plain = type->type == DataType::float32 && op->op == ReduceOp::sum;
          if (!plain && (!one_pass || elements == kLargest)) continue;
          if (elements == kLargest && !one_pass) continue;
          c.type = type->type;
          c.op = op->op;
          c.elements = elements;
          cases.push_back(c);
        }
  }
  return cases;
}

class SharedRanks : public ::testing::TestWithParam<int> {};

TEST_P(SharedRanks, RunEveryAlgorithmOnBuffersInSharedMemory) {
  Endpoints endpoints = make_shared_thread_endpoints(GetParam(), kPart);
  run_cases(endpoints, Where::inside, cases_of(GetParam()));
}

TEST_P(SharedRanks, RunEveryAlgorithmOnBuffersOfTheirOwn) {
  Endpoints endpoints = make_shared_thread_endpoints(GetParam(), kPart);
  std::vector<Case> cases = cases_of(GetParam());
  std::erase_if(cases, [](const Case& c) { return c.type != DataType::float32; });
  run_cases(endpoints, Where::outside, cases);
  run_cases(endpoints, Where::mixed, cases);
}

INSTANTIATE_TEST_SUITE_P(, SharedRanks, ::testing::Values(1, 2, 3, 5, 8));

TEST(Shared, JoinHostsByAnotherTransport) {
  for (const int hosts : {2, 3}) {
    Endpoints endpoints = support::make_hosts(hosts, 2, kPart);
    std::vector<Case> cases;
    for (Case c : support::plain_cases(2 * hosts))
      for (const int group : {1, 2})
        for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{997}}) {
          c.world.group = group;
          c.elements = elements;
          if (c.algorithm.algorithm->refuses(c.world).empty()) cases.push_back(c);
        }
    run_cases(endpoints, Where::mixed, cases);
  }
}

TEST(Shared, SendWhatACompressorEncodes) {
  Endpoints endpoints = make_shared_thread_endpoints(4, kPart);
  std::vector<Case> cases;
  for (Case c : support::plain_cases(4)) {
    c.compressor = parse_compressor("fp16");
    c.elements = 997;
    if (c.algorithm.algorithm->collective == CollectiveKind::all_reduce) cases.push_back(c);
  }
  run_cases(endpoints, Where::inside, cases);
}

/// Each run doubles what the sum of the first was, times the number of ranks: exact up to 2^24, so begin again in time.
void restart_often(int ranks, std::int64_t elements, int runs) {
  Endpoints endpoints = make_shared_thread_endpoints(ranks, kPart);
  const Schedule schedule = direct(ranks);
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    const std::span<std::byte> memory = endpoint.allocate(static_cast<std::size_t>(elements) * sizeof(float));
    const std::span<float> values(reinterpret_cast<float*>(memory.data()), static_cast<std::size_t>(elements));
    const auto operation = endpoint.prepare(schedule, Operand::of(values), nullptr);
    for (int run = 0; run < runs; ++run) {
      if (run > 0) operation->restart();
      std::ranges::fill(values, static_cast<float>(run % 1000 + endpoint.transport().rank()));
      wait_for(*operation, kTimeout, "restart");
      const float right = static_cast<float>(run % 1000 * ranks + ranks * (ranks - 1) / 2);
      for (const float value : values)
        if (value != right) throw std::runtime_error(fmt::format("run {}: {} instead of {}", run, value, right));
    }
  });
}

/// Rank 1 fails at once while the others wait for it, for a minute if nobody tells them.
void expect_job_stops(Endpoints endpoints) {
  const auto begin = std::chrono::steady_clock::now();
  const Schedule schedule = direct(static_cast<int>(endpoints.size()));
  ::testing::TestPartResultArray failures;
  {
    const ::testing::ScopedFakeTestPartResultReporter record(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    run_ranks(endpoints, [&](Endpoint& endpoint) {
      if (endpoint.transport().rank() == 1) throw std::runtime_error("a wrong sum");
      const std::span<std::byte> memory = endpoint.allocate(4096);
      const std::span<float> values(reinterpret_cast<float*>(memory.data()), 1024);
      wait_for(*endpoint.prepare(schedule, Operand::of(values), nullptr), Seconds(60), "all-reduce");
    });
  }
  EXPECT_EQ(failures.size(), static_cast<int>(endpoints.size()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Shared, StopTheJobOfATestWhenOneRankFails) {
  expect_job_stops(make_shared_thread_endpoints(3, kPart));
  expect_job_stops(make_thread_endpoints(3));
  expect_job_stops(support::make_hosts(2, 2, kPart));
}

TEST(Shared, BeginAgainTenThousandTimes) {
  restart_often(2, 3, 10000);
  restart_often(5, 3, 10000);
}

TEST(Shared, BeginAgainOftenWhereOneRankDoesAllTheWork) { restart_often(3, 3000, 2000); }

TEST(Shared, BeginAgainOftenWhereBlocksAreShared) { restart_often(4, 100000, 300); }

TEST(Shared, UseTheSameControlBlocksOverAndOver) {
  Endpoints endpoints = make_shared_thread_endpoints(2, kPart);
  const Schedule schedule = direct(2);
  constexpr std::size_t kLarge = support::kSanitized ? 20'000 : 100'000;
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    const std::span<std::byte> memory = endpoint.allocate(4 * kLarge);
    // Small and larger in turn: one rank adds up the small ones, and an odd number gives each control block both.
    for (int run = 0; run < 2 * SharedSegment::kControls + 3; ++run) {
      const std::span<float> values(reinterpret_cast<float*>(memory.data()), run % 3 == 0 ? kLarge : 5);
      std::ranges::fill(values, static_cast<float>(run % 100));
      wait_for(*endpoint.prepare(schedule, Operand::of(values), nullptr), kTimeout, "reuse");
      if (values[4] != static_cast<float>(2 * (run % 100))) throw std::runtime_error("a wrong sum");
    }
  });
}

TEST(Shared, RefuseMoreCollectivesAtOnceThanThereAreControlBlocks) {
  Endpoints endpoints = make_shared_thread_endpoints(1, kPart);
  const Schedule schedule = direct(1);
  std::vector<float> value(1);
  std::vector<std::unique_ptr<Operation>> operations;
  for (int i = 0; i < SharedSegment::kControls; ++i)
    operations.push_back(endpoints[0]->prepare(schedule, Operand::of(value), nullptr));
  EXPECT_THROW(endpoints[0]->prepare(schedule, Operand::of(value), nullptr), Error);
}

TEST(Shared, RunManyCollectivesAtOnceInAnyOrder) {
  constexpr int kMany = 40;
  Endpoints endpoints = make_shared_thread_endpoints(3, kPart);
  const Schedule schedule = direct(3);
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    std::vector<std::span<float>> buffers;
    std::vector<std::unique_ptr<Operation>> operations;
    for (int i = 0; i < kMany; ++i) {
      const auto elements = static_cast<std::size_t>(1 + 700 * i);
      const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
      buffers.emplace_back(reinterpret_cast<float*>(memory.data()), elements);
      std::ranges::fill(buffers.back(), static_cast<float>(i + rank));
      operations.push_back(endpoint.prepare(schedule, Operand::of(buffers.back()), nullptr));
    }
    std::vector<int> order(kMany);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(rank)));
    for (const int i : order) operations[static_cast<std::size_t>(i)]->progress();
    for (const int i : order) wait_for(*operations[static_cast<std::size_t>(i)], kTimeout, "many");
    for (int i = 0; i < kMany; ++i)
      for (const float value : buffers[static_cast<std::size_t>(i)])
        if (value != static_cast<float>(3 * i + 3)) throw std::runtime_error("a wrong sum");
  });
}

TEST(Shared, NameTheRanksThatHaveNotArrived) {
  for (const std::int64_t elements : {1, 5000}) {
    Endpoints endpoints = make_shared_thread_endpoints(4, kPart);
    std::vector<float> values(static_cast<std::size_t>(elements));
    std::vector<std::unique_ptr<Operation>> operations;
    for (const auto& endpoint : endpoints)
      operations.push_back(endpoint->prepare(direct(4), Operand::of(values), nullptr));
    EXPECT_FALSE(operations[0]->progress());
    EXPECT_FALSE(operations[2]->progress());
    EXPECT_THAT(operations[0]->waiting_ranks(), ElementsAre(1, 3));
    EXPECT_EQ(operations[2]->waiting_for(), "ranks 1, 3 to arrive");
    expect_error([&] { wait_for(*operations[0], Seconds(0.05), "rank 0"); }, ExitCode::lost_rank,
                 HasSubstr("ranks 1, 3 to arrive"), ::testing::_);
  }
}

TEST(Shared, LeaveWhenARankStopsTheJob) {
  Endpoints endpoints = make_shared_thread_endpoints(2, kPart);
  std::vector<float> values(5000);
  const auto operation = endpoints[0]->prepare(direct(2), Operand::of(values), nullptr);
  EXPECT_FALSE(operation->progress());
  EXPECT_THROW(endpoints[1]->abort(4), Error);
  expect_error([&] { wait_for(*operation, kTimeout, "rank 0"); }, ExitCode::wrong_data, "rank 1 stopped the job",
               ::testing::_);
}

TEST(OnePassForm, IsFoundByWhatTravelsNotByName) {
  EXPECT_TRUE(has_one_pass_form(direct(5)));
  EXPECT_TRUE(has_one_pass_form(direct(1)));
  EXPECT_TRUE(has_one_pass_form(schedule_called("ps", {.workers = 4, .servers = 2, .colocated = true})));
  EXPECT_TRUE(has_one_pass_form(schedule_called("ps", {.workers = 4, .servers = 2})));
  EXPECT_TRUE(has_one_pass_form(schedule_called("ring", {.workers = 2})));
  EXPECT_FALSE(has_one_pass_form(schedule_called("ring", {.workers = 3})));
  EXPECT_FALSE(has_one_pass_form(schedule_called("recursive-doubling", {.workers = 4})));
  EXPECT_FALSE(has_one_pass_form(schedule_called("ps", {.workers = 4, .servers = 2, .colocated = true, .group = 2})));
  EXPECT_TRUE(has_one_pass_form(parse_algorithm("direct", CollectiveKind::reduce_scatter).build({.workers = 4}, 1)));
  EXPECT_TRUE(has_one_pass_form(parse_algorithm("direct", CollectiveKind::all_gather).build({.workers = 4}, 1)));
}

TEST(OnePassForm, IsLostWithAnyTransfer) {
  const Schedule whole = direct(4);
  for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
    Schedule less = whole;
    less.transfers.erase(less.transfers.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(has_one_pass_form(less)) << "transfer " << i;
  }
}

}  // namespace
}  // namespace hbench::shared_test
