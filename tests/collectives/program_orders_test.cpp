// Rounds that overlap in time: what a rank may do early, what it must not, and that no order of events changes a
// result or stops the programs.

#include <deque>
#include <map>
#include <numeric>
#include <random>

#include "collectives/compressors/compressor.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/program/rank_program.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::program_orders_test {
namespace {

/// Shows messages in memory of its own, as MPI does, where threads show the sender's.
class StagingTransport final : public Transport {
 public:
  explicit StagingTransport(Transport& below) : below_(below) {}

  Rank rank() const override { return below_.rank(); }
  int size() const override { return below_.size(); }
  Request send(Rank to, int tag, std::span<const std::byte> payload) override { return below_.send(to, tag, payload); }
  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = below_.receive(from, tag, landing);
    if (request >= landings_.size()) landings_.resize(request + 1);
    landings_[request] = {landing, sink, message};
    return request;
  }
  bool test(Request request) override {
    if (!below_.test(request)) return false;
    if (request >= landings_.size()) return true;
    const Landing landing = std::exchange(landings_[request], {});
    if (landing.sink != nullptr) landing.sink->take(landing.bytes, landing.message);
    return true;
  }
  void cancel(Request request) override { below_.cancel(request); }

 private:
  struct Landing {
    std::span<std::byte> bytes;
    Sink* sink = nullptr;
    std::size_t message = 0;
  };
  Transport& below_;
  std::vector<Landing> landings_;
};

/// All ranks of one schedule in this thread, on one element a chunk.
class Job {
 public:
  Job(const Schedule& schedule, bool staging) : endpoints_(make_thread_endpoints(schedule.world.ranks())) {
    for (const auto& endpoint : endpoints_) {
      const Rank rank = endpoint->transport().rank();
      Transport* transport = &endpoint->transport();
      if (staging) transport = transports_.emplace_back(std::make_unique<StagingTransport>(*transport)).get();
      std::vector<std::int32_t>& buffer = buffers_.emplace_back(static_cast<std::size_t>(schedule.chunks));
      fill(rank, buffer);
      programs_.push_back(make_rank_program(plan_for(schedule, rank), nullptr, *transport, 0,
                                            Operand{std::as_writable_bytes(std::span(buffer)), DataType::int32}));
    }
  }

  /// Depends on rank and position.
  static void fill(Rank rank, std::vector<std::int32_t>& buffer) {
    std::iota(buffer.begin(), buffer.end(), 1000 * (rank + 1));
  }

  Operation& operator[](Rank rank) { return *programs_[static_cast<std::size_t>(rank)]; }
  /// In bytes. \pre made without staging
  std::int64_t sent_by(Rank rank) const { return endpoints_[static_cast<std::size_t>(rank)]->byte_counts().sent(); }
  std::vector<std::int32_t>& buffer(Rank rank) { return buffers_[static_cast<std::size_t>(rank)]; }

  /// Progresses ranks in an order that `random` chooses; false when they do not end.
  bool run(std::mt19937& random) {
    const int ranks = static_cast<int>(programs_.size());
    std::vector<bool> done(programs_.size());
    for (int turn = 0; turn < 100000; ++turn) {
      const auto rank = random() % programs_.size();
      done[rank] = programs_[rank]->progress();
      if (std::ranges::count(done, true) == ranks) return true;
    }
    return false;
  }

  void restart() {
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      fill(static_cast<Rank>(rank), buffers_[rank]);
      programs_[rank]->restart();
    }
  }

 private:
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<StagingTransport>> transports_;
  std::deque<std::vector<std::int32_t>> buffers_;
  std::vector<std::unique_ptr<Operation>> programs_;
};

constexpr TransferKind kCopy = TransferKind::copy;
constexpr TransferKind kReduce = TransferKind::reduce;

Schedule schedule_of(int ranks, int chunks, int rounds, std::vector<Transfer> transfers) {
  return {.world = {.workers = ranks},
          .chunks = chunks,
          .rounds = rounds,
          .transfers = std::move(transfers),
          .offsets = {}};
}

TEST(Rounds, AreEnteredBeforeEarlierOnesEndWhereDataAllowIt) {
  // Rank 0 awaits chunk 0 from rank 1, which sleeps; chunk 1 goes to rank 2 in the next round all the same.
  Job job(schedule_of(3, 2, 2, {{0, 1, 0, 0, 1, kCopy}, {1, 0, 2, 1, 1, kCopy}}), false);
  EXPECT_FALSE(job[0].progress());
  EXPECT_TRUE(job[2].progress());
  EXPECT_THAT(job.buffer(2), ElementsAre(3000, 1001));
  EXPECT_EQ(job[0].waiting_for(), "rank 1 in round 1 of 2");
}

/// Writes down what it is asked for: `send`, `receive`, `test` of what is not done, `sent` and `received`.
class WitnessTransport final : public Transport {
 public:
  explicit WitnessTransport(Transport& below) : below_(below) {}

  Rank rank() const override { return below_.rank(); }
  int size() const override { return below_.size(); }
  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    seen.emplace_back("send");
    return posted(below_.send(to, tag, payload), "sent");
  }
  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    seen.emplace_back("receive");
    return posted(below_.receive(from, tag, landing, sink, message), "received");
  }
  bool test(Request request) override {
    const bool done = below_.test(request);
    seen.emplace_back(done ? when_done_.at(request) : "test");
    return done;
  }
  void cancel(Request request) override { below_.cancel(request); }

  std::vector<std::string> seen;

 private:
  Request posted(Request request, const char* when_done) {
    when_done_[request] = when_done;
    return request;
  }
  Transport& below_;
  std::map<Request, std::string> when_done_;
};

// MPI copies what has arrived from a process of the same host while it is asked for anything: a message that is posted
// after that comes later by the time of a copy. The ring of two ranks: half the buffer each way, twice.
TEST(Rounds, PostWhatMayLeaveBeforeTheyLookAtWhatHasArrived) {
  const Schedule ring = schedule_of(
      2, 2, 2, {{0, 0, 1, 0, 1, kReduce}, {0, 1, 0, 1, 1, kReduce}, {1, 0, 1, 1, 1, kCopy}, {1, 1, 0, 0, 1, kCopy}});
  const auto endpoints = make_thread_endpoints(2);
  std::deque<WitnessTransport> transports;
  std::vector<std::vector<std::int32_t>> buffers{{1, 2}, {10, 20}};
  std::vector<std::unique_ptr<Operation>> programs;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto& transport = transports.emplace_back(endpoints[static_cast<std::size_t>(rank)]->transport());
    programs.push_back(make_rank_program(
        plan_for(ring, rank), nullptr, transport, 0,
        Operand{std::as_writable_bytes(std::span(buffers[static_cast<std::size_t>(rank)])), DataType::int32}));
  }
  for (bool done = false; !done;) {
    const bool first = programs[0]->progress();
    done = programs[1]->progress() && first;
  }
  EXPECT_THAT(buffers, Each(ElementsAre(11, 22)));
  for (const WitnessTransport& transport : transports) {
    const std::vector<std::string>& seen = transport.seen;
    EXPECT_EQ(seen.front(), "send");
    EXPECT_LT(std::ranges::find(seen, "receive"), std::ranges::find(seen, "test"));
    const auto received = std::ranges::find(seen, "received");
    ASSERT_NE(received, seen.end());
    EXPECT_EQ(*std::next(received), "send") << "what was waited for leaves at once";
  }
}

TEST(Rounds, SendAChunkOnlyOnceWhatWasAwaitedForItIsThere) {
  for (const TransferKind kind : {kCopy, kReduce}) {
    Job job(schedule_of(3, 1, 2, {{0, 1, 0, 0, 1, kind}, {1, 0, 2, 0, 1, kCopy}}), false);
    job[0].progress();
    EXPECT_FALSE(job[2].progress());
    job[1].progress();
    job[0].progress();
    EXPECT_TRUE(job[2].progress());
    EXPECT_THAT(job.buffer(2), ElementsAre(kind == kCopy ? 2000 : 3000));
  }
}

TEST(Rounds, OverwriteAChunkOnlyOnceItHasLeft) {
  for (const TransferKind kind : {kCopy, kReduce})
    for (const bool staging : {false, true}) {
      Job job(schedule_of(3, 1, 2, {{0, 0, 1, 0, 1, kCopy}, {1, 2, 0, 0, 1, kind}}), staging);
      job[0].progress();
      job[2].progress();
      job[0].progress();
      EXPECT_THAT(job.buffer(0), ElementsAre(1000)) << "rank 1 has yet to take it";
      EXPECT_TRUE(job[1].progress());
      EXPECT_THAT(job.buffer(1), ElementsAre(1000));
      EXPECT_TRUE(job[0].progress() || (job[2].progress(), job[0].progress()));
      EXPECT_THAT(job.buffer(0), ElementsAre(kind == kCopy ? 3000 : 4000));
    }
}

TEST(Rounds, ApplyWhatTwoRanksSentInTheOrderOfTheRounds) {
  // The copy of round 1 must win, though it may arrive first.
  Job job(schedule_of(3, 1, 2, {{0, 1, 0, 0, 1, kReduce}, {1, 2, 0, 0, 1, kCopy}}), false);
  job[2].progress();
  job[0].progress();
  EXPECT_THAT(job.buffer(0), ElementsAre(1000));
  job[1].progress();
  EXPECT_TRUE(job[0].progress());
  EXPECT_THAT(job.buffer(0), ElementsAre(3000));
}

/// A cycle among what two ranks exchange in one round: each holds back what the other must take first.
TEST(Rounds, DoNotWaitInCircles) {
  const std::vector<Transfer> knot{
      {0, 0, 1, 0, 1, kReduce}, {0, 1, 0, 1, 1, kReduce}, {0, 2, 0, 0, 2, kReduce}, {0, 3, 1, 0, 2, kReduce}};
  std::mt19937 random(3);
  for (std::vector<Transfer> order = knot; std::ranges::next_permutation(order, {}, &Transfer::src).found;)
    for (const bool staging : {false, true}) EXPECT_TRUE(Job(schedule_of(4, 2, 1, order), staging).run(random));
}

/// Any transfers that rules allow: no chunk is written twice in a round when one write is a copy.
Schedule random_schedule(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int ranks = 2 + below(4);
  const int chunks = 1 + below(4);
  Schedule schedule = schedule_of(ranks, chunks, 1 + below(14), {});
  for (int round = 0; round < schedule.rounds; ++round) {
    std::vector<int> writes(static_cast<std::size_t>(ranks * chunks));
    for (int tries = below(2 * ranks); tries > 0; --tries) {
      const int first = below(chunks);
      const Transfer transfer{
          round, below(ranks), below(ranks), first, 1 + below(chunks - first), below(2) == 0 ? kCopy : kReduce};
      const auto written = std::span(writes).subspan(static_cast<std::size_t>(transfer.dst * chunks + first),
                                                     static_cast<std::size_t>(transfer.chunk_count));
      const int forbidden = transfer.kind == kCopy ? 1 : 2;  // 1 reduces, 2 a copy
      if (transfer.src == transfer.dst || std::ranges::any_of(written, [&](int w) { return w >= forbidden; })) continue;
      std::ranges::fill(written, transfer.kind == kCopy ? 2 : 1);
      schedule.transfers.push_back(transfer);
    }
  }
  return schedule;
}

/// The semantics at the top of schedule.hpp, word by word.
std::vector<std::vector<std::int32_t>> reference(const Schedule& schedule) {
  std::vector<std::vector<std::int32_t>> state(static_cast<std::size_t>(schedule.world.ranks()),
                                               std::vector<std::int32_t>(static_cast<std::size_t>(schedule.chunks)));
  for (std::size_t rank = 0; rank < state.size(); ++rank) Job::fill(static_cast<Rank>(rank), state[rank]);
  for (int round = 0; round < schedule.rounds; ++round) {
    const auto before = state;
    for (const Transfer& t : schedule.transfers)
      for (int chunk = t.first_chunk; t.round == round && chunk < t.first_chunk + t.chunk_count; ++chunk) {
        const auto at = static_cast<std::size_t>(chunk);
        std::int32_t& target = state[static_cast<std::size_t>(t.dst)][at];
        const std::int32_t payload = before[static_cast<std::size_t>(t.src)][at];
        // Sums wrap around.
        const auto sum = static_cast<std::uint32_t>(target) + static_cast<std::uint32_t>(payload);
        target = t.kind == kCopy ? payload : static_cast<std::int32_t>(sum);
      }
  }
  return state;
}

TEST(Rounds, GiveWhatTheScheduleMeansInEveryOrderOfEvents) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 1500; ++trial) {
    const Schedule schedule = random_schedule(random);
    const auto right = reference(schedule);
    Job job(schedule, trial % 2 == 0);
    for (int run = 0; run < 3; ++run) {
      if (run > 0) job.restart();
      ASSERT_TRUE(job.run(random)) << "trial " << trial << ", run " << run;
      for (Rank rank = 0; rank < schedule.world.ranks(); ++rank)
        ASSERT_EQ(job.buffer(rank), right[static_cast<std::size_t>(rank)])
            << "trial " << trial << ", run " << run << ", rank " << rank;
    }
  }
}

TEST(Rounds, AreOpenInBoundedNumber) {
  // Rank 0 sends in every round to rank 1, which sleeps: no more than a window's messages are posted.
  constexpr int kRounds = 100;
  std::vector<Transfer> transfers;
  for (int round = 0; round < kRounds; ++round) transfers.push_back({round, 0, 1, 0, 1, kReduce});
  Job job(schedule_of(2, 1, kRounds, transfers), false);
  job[0].progress();
  EXPECT_GT(job.sent_by(0), 4);
  EXPECT_LT(job.sent_by(0), 4 * 20);
}

}  // namespace
}  // namespace hbench::program_orders_test
