#include <gmock/gmock.h>

#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/thread_ranks.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::executors_test {
namespace {

using namespace ::hbench::support;

const std::vector<int> kWorlds = support::kSanitized ? std::vector{1, 2, 3} : std::vector{1, 2, 3, 4, 5, 7, 8};

constexpr Seconds kTimeout{60};

/// What each rank runs.
using Part = std::function<std::unique_ptr<Operation>(Endpoint& endpoint)>;

/// One thread per rank, of which each waits for its part of a collective.
void run_threads(int ranks, const Part& part) {
  auto endpoints = find_entry(executors(), "threads", "executor").make_endpoints(ranks);
  run_ranks(endpoints, [&](Endpoint& endpoint) { wait_for(*part(endpoint), kTimeout, "a rank"); });
}

using Buffers = std::vector<std::vector<float>>;

/// Runs the collective on `buffers`, one per rank.
void all_reduce(const Schedule& schedule, const CompressorChoice& compressor, Buffers& buffers) {
  run_threads(static_cast<int>(buffers.size()), [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    return endpoint.prepare(schedule, Operand::of(buffers[rank]), compressor.encoding().codec);
  });
}

Buffers contributions(const World& world, std::int64_t elements) {
  Buffers buffers;
  for (Rank rank = 0; rank < world.ranks(); ++rank) buffers.push_back(contribution_of(rank, elements));
  return buffers;
}

void expect_exact_sum(const Schedule& schedule, const CompressorChoice& compressor, std::int64_t elements) {
  Buffers buffers = contributions(schedule.world, elements);
  all_reduce(schedule, compressor, buffers);
  const std::vector<float> sum = expected_sum(schedule.world.workers, elements);
  for (int worker = 0; worker < schedule.world.workers; ++worker) {
    ASSERT_EQ(buffers[static_cast<std::size_t>(worker)], sum) << "worker " << worker;
  }
}

/// Runs a case on one thread a rank; the first thing that is wrong, or nothing.
std::string fault_of(const Case& c) {
  const Schedule schedule = schedule_of(c);
  std::vector<std::vector<std::byte>> buffers;
  for (Rank rank = 0; rank < c.world.ranks(); ++rank) buffers.push_back(given(c, schedule, rank));
  run_threads(c.world.ranks(), [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    return prepare_exchange(endpoint, {.world = c.world,
                                       .algorithm = c.algorithm,
                                       .compressor = c.compressor,
                                       .operand = {buffers[rank], c.type, c.op}});
  });
  for (Rank rank = 0; rank < c.world.ranks(); ++rank)
    if (std::string wrong = judge(c, schedule, rank, buffers[static_cast<std::size_t>(rank)]); !wrong.empty())
      return wrong;
  return {};
}

TEST(Threads, DoEveryAlgorithmRightWithEveryAwkwardCount) {
  for (const int ranks : kWorlds)
    for (Case c : plain_cases(ranks))
      for (const std::int64_t elements : awkward_counts(ranks)) {
        c.elements = elements;
        ASSERT_EQ(fault_of(c), "");
      }
}

TEST(Threads, DoEveryAlgorithmRightWithEveryTypeAndOperation) {
  for (const int ranks : support::kSanitized ? std::vector{3} : std::vector{2, 3, 5, 8})
    for (Case c : plain_cases(ranks))
      for (const DataTypeEntry* type : data_types())
        for (const ReduceOpEntry* op : reduce_ops()) {
          c.type = type->type;
          c.op = op->op;
          c.elements = 211;
          ASSERT_EQ(fault_of(c), "");
        }
}

TEST(Threads, SumOnServersThatHoldShardsFromEveryPlacement) {
  const Algorithm& ps = find_entry(algorithms(), "ps", "algorithm");
  const std::vector<std::int64_t> tensors{1000, 3, 5000, 1, 77};
  for (const Placement* placement : placements()) {
    for (const int servers : {1, 2, 3}) {
      std::vector<Shard> shards;
      for (const auto& tensor : placement->place(tensors, servers))
        shards.insert(shards.end(), tensor.begin(), tensor.end());
      for (const World& world : {World{4, servers, false}, World{4, servers, true}, World{3, servers, true},
                                 World{5, servers, false, 2}, World{5, servers, true, 3}}) {
        SCOPED_TRACE(std::string(placement->name) + ", " + text_of(world));
        for (const CompressorChoice& compressor : exact_compressors())
          expect_exact_sum(ps.build({.world = world, .shards = shards}), compressor, 6081);
      }
    }
  }
}

/// Both ranks send their whole buffer and add the other's: recursive doubling's round.
const Schedule kExchange{.world = {.workers = 2},
                         .chunks = 2,
                         .rounds = 1,
                         .transfers = {{0, 0, 1, 0, 2, TransferKind::reduce}, {0, 1, 0, 0, 2, TransferKind::reduce}},
                         .offsets = {}};

TEST(Threads, ExchangeWhatIsBeingAddedToInTheSameRound) {
  for (const CompressorChoice& compressor : exact_compressors()) expect_exact_sum(kExchange, compressor, 40001);
}

TEST(Threads, ExchangeLossyReducesWithTheSameBitsOnBothRanks) {
  Buffers buffers{{1.0F + 0x1p-12F}, {0x1p-13F}};
  all_reduce(kExchange, parse_compressor("fp16"), buffers);
  EXPECT_EQ(buffers[0], std::vector<float>{1.0F + 0x1p-13F});
  EXPECT_EQ(buffers[1], buffers[0]);
}

TEST(Threads, ReadTheStateBeforeTheRoundWhenChunksSwapPlaces) {
  // Not an all-reduce: rank 0 and 1 swap chunk 0 by copies.
  const Schedule swap{.world = {.workers = 2},
                      .rounds = 1,
                      .transfers = {{0, 0, 1, 0, 1, TransferKind::copy}, {0, 1, 0, 0, 1, TransferKind::copy}},
                      .offsets = {}};
  for (const CompressorChoice& compressor : exact_compressors()) {
    Buffers buffers = contributions(swap.world, 1003);
    all_reduce(swap, compressor, buffers);
    EXPECT_EQ(buffers[0], contribution_of(1, 1003)) << compressor.text();
    EXPECT_EQ(buffers[1], contribution_of(0, 1003)) << compressor.text();
  }
}

TEST(Threads, LetTheOwnerOfALossySumHoldWhatItsPeersDecode) {
  // Rank 0 ends the reduction with the second element, rank 1 with the first.
  Buffers buffers{{0.0F, 1.0F + 0x1p-12F}, {1.0F + 0x1p-12F, 0.0F}};
  all_reduce(find_entry(algorithms(), "ring", "algorithm").build({.world = {.workers = 2}}), parse_compressor("fp16"),
             buffers);
  EXPECT_EQ(buffers[0], (std::vector<float>{1.0F, 1.0F}));
  EXPECT_EQ(buffers[1], buffers[0]);
}

TEST(Threads, AddSeveralMessagesOfOneRoundInPostingOrder) {
  // Server 3 adds 1e8, then -1e8, then 1: another order would lose the 1.
  const Schedule schedule = find_entry(algorithms(), "ps", "algorithm").build({.world = {3, 1, false}});
  for (int repetition = 0; repetition < 50; ++repetition) {
    Buffers buffers{{1e8F}, {-1e8F}, {1.0F}, {5.0F}};
    all_reduce(schedule, parse_compressor("none"), buffers);
    ASSERT_EQ(buffers[0], std::vector<float>{1.0F});
  }
}

TEST(EveryExecutor, IsFoundByItsName) {
  for (const ExecutorKind* kind : executors()) {
    EXPECT_EQ(find_executor(kind->name), kind);
    EXPECT_EQ(works_on_gpu(kind->name), kind->on_gpu) << kind->name;
  }
  EXPECT_EQ(find_executor("thread"), nullptr);
  EXPECT_FALSE(works_on_gpu(""));
  EXPECT_TRUE(works_on_gpu("cuda"));
}

TEST(EveryExecutor, IsThereOrSaysWhyNotAndWhatToDo) {
  for (const ExecutorKind* executor : executors()) {
    const Availability availability = executor->availability();
    EXPECT_EQ(availability.reason.empty(), availability.available) << executor->name;
    EXPECT_EQ(availability.cure.empty(), availability.available) << executor->name;
    EXPECT_NE(executor->limits, "") << executor->name;
  }
}

}  // namespace
}  // namespace hbench::executors_test
