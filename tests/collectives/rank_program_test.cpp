#include "collectives/program/rank_program.hpp"

#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/contributions.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::rank_program_test {
namespace {

using namespace ::hbench::support;

Schedule ring(int workers) {
  return find_entry(algorithms(), "ring", "algorithm").build({.world = {.workers = workers}});
}

/// One program of one rank with what it needs.
struct Running {
  Running(const Schedule& schedule, Endpoint& endpoint, int tag, std::vector<float> values,
          std::string_view compression = "none")
      : plan(plan_for(schedule, endpoint.transport().rank())),
        buffer(std::move(values)),
        compressor(parse_compressor(compression)),
        made(make_rank_program(plan, compressor.encoding().codec, endpoint.transport(), tag, Operand::of(buffer))),
        program(*made) {}

  RankPlan plan;
  std::vector<float> buffer;
  CompressorChoice compressor;
  std::unique_ptr<Operation> made;
  Operation& program;
};

TEST(Plan, KeepsARanksOwnTransfersInOrderAndDropsThoseToItself) {
  const Schedule schedule{.world = {.workers = 3},
                          .chunks = 2,
                          .rounds = 3,
                          .transfers = {{0, 0, 0, 0, 1, TransferKind::copy},
                                        {0, 1, 2, 0, 1, TransferKind::reduce},
                                        {1, 0, 1, 1, 1, TransferKind::reduce},
                                        {1, 2, 0, 0, 1, TransferKind::copy},
                                        {1, 0, 2, 0, 1, TransferKind::copy}},
                          .offsets = {}};
  const RankPlan plan = plan_for(schedule, 0);
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_THAT(plan.steps[0].sends, ElementsAre(schedule.transfers[2], schedule.transfers[4]));
  EXPECT_THAT(plan.steps[0].receives, ElementsAre(schedule.transfers[3]));
  EXPECT_EQ(plan.schedule.transfers.size(), 3U);
  EXPECT_EQ(plan.schedule.rounds, 3);
}

TEST(RankProgram, IsCompleteAtOnceWhereThereIsNobodyToTalkTo) {
  const auto endpoints = make_thread_endpoints(1);
  Running alone(ring(1), *endpoints[0], 0, {1, 2, 3});
  EXPECT_TRUE(alone.program.progress());
  EXPECT_EQ(alone.program.waiting_for(), "");
  EXPECT_THAT(alone.buffer, ElementsAre(1, 2, 3));
}

TEST(RankProgram, SaysWhomItWaitsForAndInWhichRound) {
  const auto endpoints = make_thread_endpoints(3);
  Running rank1(ring(3), *endpoints[1], 0, {1, 2, 3});
  EXPECT_FALSE(rank1.program.progress());
  EXPECT_THAT(rank1.program.waiting_ranks(), ElementsAre(0, 2));
  EXPECT_EQ(rank1.program.waiting_for(), "ranks 0, 2 in round 1 of 4");

  Running rank0(ring(3), *endpoints[0], 0, {1, 2, 3});
  EXPECT_FALSE(rank0.program.progress());
  EXPECT_FALSE(rank1.program.progress());
  EXPECT_EQ(rank1.program.waiting_for(), "rank 2 in round 1 of 4");
}

TEST(RankProgram, ThatTimesOutNamesTheRankThatNeverStarted) {
  const auto endpoints = make_thread_endpoints(2);
  Running rank0(ring(2), *endpoints[0], 0, {1, 2, 3});
  expect_error([&] { wait_for(rank0.program, Seconds(0.002), "rank 0, bucket 7"); }, ExitCode::lost_rank,
               AllOf(HasSubstr("rank 0, bucket 7: waited 2"), HasSubstr("for rank 1 in round 1 of 2")));
}

/// The message of the usage error that making the program ends with.
std::string refusal(const Schedule& schedule, Operand operand, const Codec* codec = nullptr) {
  const auto endpoints = make_thread_endpoints(2);
  try {
    make_rank_program(plan_for(schedule, 1), codec, endpoints[1]->transport(), 0, operand);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(RankProgram, RefusesABufferThatIsNotWhatTheScheduleMoves) {
  std::vector<std::byte> buffer(10);
  Schedule schedule = ring(2);
  EXPECT_EQ(refusal(schedule, {buffer, DataType::uint8}), "");
  EXPECT_EQ(refusal(schedule, {buffer, DataType::float32}),
            "rank 1: a buffer of 10 bytes does not hold whole elements of float32");
  EXPECT_EQ(refusal(schedule, {buffer, DataType::uint8}, parse_compressor("fp16").codec.get()),
            "compressors take float32, not uint8");
  EXPECT_EQ(refusal(ring(3), {buffer, DataType::uint8}), "a collective of 3 ranks cannot run in a job of 2");
  schedule.offsets = {0, 5, 12};
  EXPECT_EQ(refusal(schedule, {buffer, DataType::uint8}),
            "rank 1 brings a buffer of 10 elements to a collective of 12");
  schedule.offsets = {0, 5, 8};
  EXPECT_EQ(refusal(schedule, {buffer, DataType::uint8}), "rank 1 brings a buffer of 10 elements to a collective of 8");
}

TEST(RankProgram, FindsOutThatAPeersBufferIsShorterOrLonger) {
  const auto refused = [](std::vector<float> own, std::vector<float> peers, const char* message) {
    const auto endpoints = make_thread_endpoints(2);
    Running rank0(ring(2), *endpoints[0], 0, std::move(own));
    Running rank1(ring(2), *endpoints[1], 0, std::move(peers));
    rank1.program.progress();
    expect_error([&] { rank0.program.progress(); }, ExitCode::wrong_data, message);
  };
  refused({1, 2, 3, 4}, {1, 2}, "rank 1 sent 4 bytes to rank 0, which expects 8 bytes");
  refused({1, 2}, {1, 2, 3, 4}, "rank 1 sent 8 bytes to rank 0, which expects 4 bytes");
}

TEST(RankProgram, NamesWhomItWaitsForInASecondRunToo) {
  const auto endpoints = make_thread_endpoints(2);
  Running rank0(ring(2), *endpoints[0], 0, {1, 2});
  Running rank1(ring(2), *endpoints[1], 0, {10, 20});
  while (!rank0.program.progress()) rank1.program.progress();
  while (!rank1.program.progress()) rank0.program.progress();
  EXPECT_THAT(rank0.program.waiting_ranks(), ElementsAre());
  rank0.program.restart();
  EXPECT_FALSE(rank0.program.progress());
  EXPECT_THAT(rank0.program.waiting_ranks(), ElementsAre(1));
  EXPECT_EQ(rank0.program.waiting_for(), "rank 1 in round 1 of 2");
}

TEST(RankProgram, DestroyedEarlyLeavesNothingBehind) {
  const auto endpoints = make_thread_endpoints(2);
  const CompressorChoice fp16 = parse_compressor("fp16");
  const RankPlan plan = plan_for(ring(2), 0);
  std::vector<float> abandoned{50, 60};
  make_rank_program(plan, fp16.codec.get(), endpoints[0]->transport(), 0, Operand::of(abandoned))->progress();

  Running rank0(ring(2), *endpoints[0], 0, {1, 2}, "fp16");
  Running rank1(ring(2), *endpoints[1], 0, {10, 20}, "fp16");
  for (int turn = 0; turn < 10; ++turn) {
    rank0.program.progress();
    rank1.program.progress();
  }
  EXPECT_THAT(rank0.buffer, ElementsAre(11, 22));
  EXPECT_THAT(rank1.buffer, ElementsAre(11, 22));
}

/// Nothing arrives, and nobody takes anything.
class SilentTransport final : public Transport {
 public:
  Rank rank() const override { return 0; }
  int size() const override { return 2; }
  Request send(Rank, int, std::span<const std::byte>) override { return posted++; }
  Request receive(Rank, int, std::span<std::byte>, Sink*, std::size_t) override { return posted++; }
  bool test(Request) override { return false; }
  void cancel(Request request) override { cancelled.push_back(request); }

  Request posted = 0;
  std::vector<Request> cancelled;
};

// A peer that looks meanwhile would take a later message for an earlier one.
TEST(RankProgram, DestroyedEarlyTakesItsLatestMessageBackFirst) {
  SilentTransport transport;
  std::vector<float> buffer(3);
  const Schedule three_at_once{.world = {.workers = 2},
                               .chunks = 3,
                               .rounds = 1,
                               .transfers = {{0, 0, 1, 0, 1, TransferKind::copy},
                                             {0, 0, 1, 1, 1, TransferKind::copy},
                                             {0, 0, 1, 2, 1, TransferKind::copy}},
                               .offsets = {}};
  make_rank_program(plan_for(three_at_once, 0), nullptr, transport, 0, Operand::of(buffer))->progress();
  EXPECT_THAT(transport.cancelled, ElementsAre(2, 1, 0));
}

TEST(RankProgram, LetsItsPeerReadAChunkBeforeItOverwritesIt) {
  for (const TransferKind kind : {TransferKind::copy, TransferKind::reduce}) {
    const Schedule swap{.world = {.workers = 2},
                        .rounds = 1,
                        .transfers = {{0, 0, 1, 0, 1, kind}, {0, 1, 0, 0, 1, kind}},
                        .offsets = {}};
    const auto endpoints = make_thread_endpoints(2);
    Running rank0(swap, *endpoints[0], 0, {1});
    Running rank1(swap, *endpoints[1], 0, {10});
    EXPECT_FALSE(rank0.program.progress());
    EXPECT_FALSE(rank1.program.progress());  // has rank 0's message; its own has not been taken
    EXPECT_THAT(rank1.buffer, ElementsAre(10));
    EXPECT_TRUE(rank0.program.progress());
    EXPECT_TRUE(rank1.program.progress());
    EXPECT_THAT(rank0.buffer, ElementsAre(kind == TransferKind::copy ? 10 : 11));
    EXPECT_THAT(rank1.buffer, ElementsAre(kind == TransferKind::copy ? 1 : 11));
  }
}

TEST(RankProgram, ZeroesTheBufferOfADedicatedServer) {
  const Schedule schedule = find_entry(algorithms(), "ps", "algorithm").build({.world = {1, 1, false}});
  const auto endpoints = make_thread_endpoints(2);
  Running worker(schedule, *endpoints[0], 0, {1, 2});
  Running server(schedule, *endpoints[1], 0, {70, 80});
  while (!worker.program.progress()) server.program.progress();
  EXPECT_THAT(worker.buffer, ElementsAre(1, 2));
  EXPECT_THAT(server.buffer, ElementsAre(1, 2));
}

/// Every rank runs all its programs at once, looking at them in an order of its own.
void run_many(Endpoint& endpoint, const Schedule& schedule, int programs) {
  const Rank rank = endpoint.transport().rank();
  std::vector<std::unique_ptr<Running>> running;
  for (int tag = 0; tag < programs; ++tag) {
    running.push_back(std::make_unique<Running>(schedule, endpoint, tag, contribution_of(rank, 100 + tag),
                                                tag % 2 == 0 ? "none" : "fp16"));
  }
  for (int left = programs; left > 0;) {
    left = 0;
    for (int i = 0; i < programs; ++i) {
      const int next = (i * (rank + 1) + rank) % programs;
      if (!running[static_cast<std::size_t>(next)]->program.progress()) ++left;
    }
    std::this_thread::yield();
  }
  for (const auto& one : running) {
    EXPECT_EQ(one->buffer, expected_sum(schedule.world.workers, std::ssize(one->buffer))) << "rank " << rank;
  }
}

TEST(RankProgram, RunsBesideOthersWithOtherTags) {
  constexpr int kRanks = 4;
  constexpr int kPrograms = 31;  // a prime, so that every rank's stride visits all
  const Schedule schedule = ring(kRanks);
  const auto endpoints = make_thread_endpoints(kRanks);
  std::vector<std::jthread> threads;
  for (const auto& endpoint : endpoints) threads.emplace_back([&] { run_many(*endpoint, schedule, kPrograms); });
}

TEST(ThreadTransport, KeepsTheOrderOfMessagesWithOneTagWhicheverIsTestedFirst) {
  const auto endpoints = make_thread_endpoints(2);
  const std::vector<std::byte> first{std::byte{1}};
  const std::vector<std::byte> second{std::byte{2}};
  std::vector<std::byte> a(1);
  std::vector<std::byte> b(1);
  Transport& sender = endpoints[0]->transport();
  Transport& receiver = endpoints[1]->transport();
  const auto receive_a = receiver.receive(0, 5, a);
  const auto receive_b = receiver.receive(0, 5, b);
  const auto send_first = sender.send(1, 5, first);
  EXPECT_FALSE(receiver.test(receive_b));
  EXPECT_TRUE(sender.test(send_first));
  const auto send_second = sender.send(1, 5, second);
  EXPECT_FALSE(sender.test(send_second));
  EXPECT_TRUE(receiver.test(receive_b));
  EXPECT_TRUE(receiver.test(receive_a));
  EXPECT_TRUE(sender.test(send_second));
  EXPECT_EQ(a, first);
  EXPECT_EQ(b, second);
}

/// Notes where messages lie.
class Witness final : public Sink {
 public:
  void take(std::span<const std::byte> payload, std::size_t message) override {
    seen.emplace_back(payload.data(), message);
  }
  std::vector<std::pair<const std::byte*, std::size_t>> seen;
};

TEST(ThreadTransport, HandsASinkTheSendersOwnMemory) {
  const auto endpoints = make_thread_endpoints(2);
  const std::vector<std::byte> payload(4);
  std::vector<std::byte> landing(4);
  Witness witness;
  Transport& receiver = endpoints[1]->transport();
  const auto first = receiver.receive(0, 5, landing, &witness, 7);
  const auto second = receiver.receive(0, 5, landing);
  const auto send_first = endpoints[0]->transport().send(1, 5, payload);
  const auto send_second = endpoints[0]->transport().send(1, 5, payload);
  EXPECT_FALSE(receiver.test(second)) << "the first waits for its own test";
  EXPECT_FALSE(endpoints[0]->transport().test(send_first));
  EXPECT_TRUE(receiver.test(first));
  EXPECT_TRUE(receiver.test(second));
  EXPECT_TRUE(endpoints[0]->transport().test(send_first));
  EXPECT_TRUE(endpoints[0]->transport().test(send_second));
  EXPECT_THAT(witness.seen, ElementsAre(std::pair(payload.data(), std::size_t{7})));
}

TEST(ThreadTransport, TellsTheOthersWhoStoppedTheJob) {
  const auto endpoints = make_thread_endpoints(2);
  std::vector<std::byte> buffer(4);
  const auto request = endpoints[0]->transport().receive(1, 0, buffer);
  EXPECT_FALSE(endpoints[0]->transport().test(request));
  EXPECT_THROW(endpoints[1]->abort(static_cast<int>(ExitCode::wrong_data)), Error);
  expect_error([&] { endpoints[0]->transport().test(request); }, ExitCode::wrong_data, "rank 1 stopped the job",
               ::testing::_);
}

TEST(ThreadEndpoint, HasNoVendorsAllReduce) {
  std::vector<float> buffer(3);
  EXPECT_THROW(make_thread_endpoints(1)[0]->vendor(CollectiveKind::all_reduce, Operand::of(buffer)), Error);
}

}  // namespace
}  // namespace hbench::rank_program_test
