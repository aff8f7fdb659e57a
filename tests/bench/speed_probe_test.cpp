// How hosts are measured, with threads for hosts.
#include "bench/worker/speed_probe.hpp"

#include <chrono>
#include <map>

#include "analysis/statistics/statistics.hpp"
#include "tests/collectives/thread_ranks.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::support::speed_probe_test {
namespace {

using testing::Gt;

/// What arrives from `slow` is late, and is read as late as that.
class LateTransport final : public Transport {
 public:
  LateTransport(Transport& inner, Rank slow) : inner_(inner), slow_(slow) {}
  Rank rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Request send(Rank to, int tag, std::span<const std::byte> payload) override { return inner_.send(to, tag, payload); }
  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = inner_.receive(from, tag, landing, sink, message);
    if (from == slow_) due_[request] = Clock::now() + std::chrono::milliseconds(60);
    return request;
  }
  bool test(Request request) override {
    const auto found = due_.find(request);
    if (found != due_.end() && Clock::now() < found->second) return false;
    if (!inner_.test(request)) return false;
    due_.erase(request);
    return true;
  }
  void cancel(Request request) override {
    due_.erase(request);
    inner_.cancel(request);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Transport& inner_;
  Rank slow_;
  std::map<Request, Clock::time_point> due_;
};

/// What rank 0 was told.
struct Told {
  std::vector<int> passes;
  std::map<Rank, std::vector<double>> computed;
  std::map<std::pair<Rank, Rank>, std::vector<double>> exchanged;
};

/// \param late what arrives at the first of these ranks from the second is late.
Told probe_threads(const ProbeOrder& order, std::pair<Rank, Rank> late = {-1, -1}) {
  Told told;
  Endpoints endpoints = make_thread_endpoints(order.ranks);
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    Transport& own = endpoint.control();
    LateTransport slowed(own, own.rank() == late.first ? late.second : -1);
    probe_speeds(slowed, order,
                 {.pass_begins = [&](int pass) { told.passes.push_back(pass); },
                  .computed = [&](Rank rank, const auto& speeds) { told.computed[rank] = speeds; },
                  .exchanged =
                      [&](Rank a, Rank b, const auto& rates) {
                        told.exchanged[{a, b}] = rates;
                      }});
  });
  return told;
}

ProbeOrder small_order(int ranks) {
  return {.ranks = ranks, .passes = 3, .threads = 2, .window = Seconds(0.001), .exchange = Seconds(0.001)};
}

TEST(SpeedProbe, TellsOfEachHostAndEachPairInEachPass) {
  for (const int ranks : {2, 3, 4}) {
    const Told told = probe_threads(small_order(ranks));
    EXPECT_THAT(told.passes, ElementsAre(0, 1, 2));
    EXPECT_THAT(told.computed, SizeIs(ranks));
    for (const auto& [rank, speeds] : told.computed) EXPECT_THAT(speeds, AllOf(SizeIs(3), Each(Gt(0)))) << rank;
    EXPECT_THAT(told.exchanged, SizeIs(ranks * (ranks - 1) / 2));
    for (const auto& [pair, rates] : told.exchanged) {
      EXPECT_LT(pair.first, pair.second);
      EXPECT_THAT(rates, AllOf(SizeIs(3), Each(Gt(0)))) << pair.first << " " << pair.second;
    }
  }
}

TEST(SpeedProbe, OfOneHostIsHowItComputes) {
  const Told told = probe_threads(small_order(1));
  EXPECT_THAT(told.computed, SizeIs(1));
  EXPECT_THAT(told.exchanged, SizeIs(0));
}

// It sleeps twenty windows in each, so that it computes for a twentieth of the time at most.
TEST(SpeedProbe, ShowsAHostThatIsDelayed) {
  ProbeOrder order = small_order(3);
  order.window = Seconds(0.005);
  order.delay = {.rank = 1, .time = Seconds(0.1)};
  Told told = probe_threads(order);
  EXPECT_LT(median(told.computed[1]), median(told.computed[0]) / 2);
  EXPECT_LT(median(told.computed[1]), median(told.computed[2]) / 2);
}

// Only rank 2 sees that what rank 1 sends takes 60 ms: 256 KiB, the least that is exchanged, are 4.4 MB/s then.
TEST(SpeedProbe, HoldsAPairToTheSlowerWay) {
  Told told = probe_threads(small_order(4), {2, 1});
  for (const auto& [pair, rates] : told.exchanged) {
    if (pair == std::pair{1, 2})
      EXPECT_LT(median(rates), 1e9) << "at most 32 MiB in 60 ms";
    else
      EXPECT_GT(median(rates), median(told.exchanged[{1, 2}])) << pair.first << " " << pair.second;
  }
}

TEST(SpeedProbe, NamesARankThatDoesNotAnswer) {
  ProbeOrder order = small_order(2);
  order.timeout = Seconds(0.2);
  Endpoints endpoints = make_thread_endpoints(2);
  try {
    probe_speeds(endpoints[0]->control(), order, {});
    FAIL() << "rank 1 never came";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::lost_rank);
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
  }
}

}  // namespace
}  // namespace hbench::support::speed_probe_test
