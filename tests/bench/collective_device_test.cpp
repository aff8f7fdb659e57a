// The measuring loop on buffers that are not the host's, with devices that do what they are told later.

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include "analysis/points/collectives.hpp"
#include "analysis/records/machine_facts.hpp"
#include "bench/collective/plan.hpp"
#include "bench/worker/rank_loop.hpp"
#include "tests/collectives/lazy_device.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_device_test {
namespace {

constexpr int kRanks = 3;

/// Messages between ranks go through host memory, what executor cuda measures through lazy devices.
class BothEndpoints final : public RankEndpoints {
 public:
  BothEndpoints(Endpoint& host, Endpoint& device) : host_(host), device_(device) {}
  Endpoint& home() override { return host_; }
  Endpoint& of(std::string_view executor) override { return executor == "cuda" ? device_ : host_; }

 private:
  Endpoint& host_;
  Endpoint& device_;
};

std::vector<LoopCase> cases_of(const CollectiveRequest& request) {
  return make_collective_plan(request, {}, {}).sets.at(0).cases;
}

LoopOptions two_iterations(const TestDelay& delay = {}) { return {.warmups = 1, .iterations = 2, .delay = delay}; }

/// What rank 0 says; `working` is called with each case that it is at.
std::vector<LoopResult> measured(
    const std::vector<LoopCase>& cases, const WatchDevice& watch = {}, const LoopOptions& options = two_iterations(),
    const std::function<void(int)>& working = [](int) {}) {
  const auto host = make_thread_endpoints(kRanks);
  const auto device = make_thread_endpoints(
      kRanks, [](Rank rank) { return std::make_shared<support::LazyDevice>(static_cast<unsigned>(rank + 1)); });
  std::vector<LoopResult> results;
  std::vector<std::jthread> ranks;
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] {
      BothEndpoints endpoints(*host[rank], *device[rank]);
      run_loop(cases, options, endpoints, {},
               {.begin = [](const std::vector<int>&) {},
                .working = working,
                .end = [&](const LoopResult& result) { results.push_back(result); }},
               watch);
    });
  ranks.clear();
  return results;
}

CollectiveRequest on_devices(CollectiveKind collective, ReduceOp op) {
  CollectiveRequest request;
  request.collective = collective;
  request.op = op;
  request.min_bytes = 12;
  request.max_bytes = 12'000;
  request.factor = 1000;
  request.ranks = {kRanks};
  request.executors = {"cuda", "threads"};
  return request;
}

TEST(MeasuringLoop, IsRightAndTimedOnDevicesBesideHostMemory) {
  for (const CollectiveKind collective : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                          CollectiveKind::all_gather, CollectiveKind::broadcast})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product}) {
      SCOPED_TRACE(to_string(collective));
      const std::vector<LoopCase> cases = cases_of(on_devices(collective, op));
      const std::vector<LoopResult> results = measured(cases);
      ASSERT_EQ(results.size(), cases.size());
      for (const LoopResult& result : results) {
        EXPECT_EQ(result.refusal, "");
        int timed = 0, checks = 0;
        for (const Sample& sample : result.samples) {
          if (sample.metric == metric::kInPlaceWrong || sample.metric == metric::kOutOfPlaceWrong) {
            EXPECT_EQ(sample.value, 0);
            ++checks;
          }
          if (!sample.warmup && (sample.metric == metric::kInPlace || sample.metric == metric::kOutOfPlace)) {
            EXPECT_GT(sample.value, 0);
            ++timed;
          }
        }
        EXPECT_EQ(checks, 2);
        EXPECT_EQ(timed, 2 * 2 * kRanks);  // iterations, both ways, of every rank
      }
    }
}

TEST(MeasuringLoop, SlowsOneRankDownWhereATestSaysSo) {
  CollectiveRequest request = on_devices(CollectiveKind::all_reduce, ReduceOp::sum);
  request.executors = {"threads"};
  const std::vector<LoopResult> results =
      measured(cases_of(request), {}, two_iterations({.rank = 1, .time = Seconds(0.004)}));
  ASSERT_FALSE(results.empty());
  for (const LoopResult& result : results) {
    int slow = 0;
    for (const Sample& sample : result.samples) {
      if (sample.metric == metric::kTestDelay) {
        EXPECT_EQ(sample.rank, 1);
        EXPECT_EQ(sample.value, 0.004);
        ++slow;
      }
      const bool timed = sample.metric == metric::kInPlace || sample.metric == metric::kOutOfPlace;
      EXPECT_GE(sample.value, timed && sample.rank == 1 ? 0.004 : 0) << "in every iteration, also where none counts";
    }
    EXPECT_EQ(slow, 1);
  }
  for (const LoopResult& result :
       measured(cases_of(request), {}, two_iterations({.rank = kRanks, .time = Seconds(0.004)})))
    for (const Sample& sample : result.samples) EXPECT_NE(sample.metric, metric::kTestDelay) << "no such rank";
}

// Who starts the ranks takes them for lost when it hears nothing for two time-outs.
TEST(MeasuringLoop, SaysThatItIsStillAtWorkWhereManyIterationsTakeLongerThanATimeOut) {
  CollectiveRequest request = on_devices(CollectiveKind::all_reduce, ReduceOp::sum);
  request.executors = {"threads"};
  request.max_bytes = request.min_bytes;
  LoopOptions options = two_iterations({.rank = 1, .time = Seconds(0.1)});
  options.iterations = 15;
  options.out_of_place = false;
  options.timeout = Seconds(2);
  std::vector<int> reported;
  ASSERT_EQ(measured(cases_of(request), {}, options, [&](int index) { reported.push_back(index); }).size(), 1U);
  // Before it checks, before it times, and each half a second of the second and a half that this must take.
  EXPECT_GE(reported.size(), 2U + 2U);
  EXPECT_THAT(reported, Each(0));
}

/// A GPU that tells its clock, rises in temperature with every look, and becomes too hot at its last.
class HeatingGpu final : public GpuWatch {
 public:
  explicit HeatingGpu(int looks) : looks_(looks) {}
  GpuState sample() override {
    GpuState state;
    state.sm_clock = 1980e6;
    state.temperature = ++seen_;
    state.clock_reasons = seen_ == looks_ ? clock_reason::kHardwareThermal : clock_reason::kApplicationClocks;
    return state;  // power is not told
  }

 private:
  int looks_;
  int seen_ = 0;
};

std::vector<double> values_of(const LoopResult& result, std::string_view metric) {
  std::vector<double> values;
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) values.push_back(sample.value);
  return values;
}

TEST(MeasuringLoop, SaysWhichIterationsWereTimedOnAGpuThatWasHeldBack) {
  CollectiveRequest request = on_devices(CollectiveKind::all_reduce, ReduceOp::sum);
  request.max_bytes = request.min_bytes;
  request.executors = {"cuda"};
  // Alone, in one turn: a look before and after the iterations in place, and the same out of place.
  const std::vector<LoopResult> results =
      measured(cases_of(request), [](Device&) { return std::make_unique<HeatingGpu>(4); });
  ASSERT_EQ(results.size(), 1U);
  const LoopResult& result = results[0];
  // Each rank has a GPU of its own.
  EXPECT_EQ(values_of(result, metric::kTemperature), (std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(values_of(result, metric::kSmClock), std::vector<double>(4 * kRanks, 1980e6));
  EXPECT_TRUE(values_of(result, metric::kPower).empty()) << "not told";
  // Two iterations in place, before it was too hot; and two out of place, after which it was.
  const double before = clock_reason::kApplicationClocks;
  const double after = clock_reason::kApplicationClocks | clock_reason::kHardwareThermal;
  EXPECT_EQ(values_of(result, clock_reasons_metric(metric::kInPlace)), std::vector<double>(2 * kRanks, before));
  EXPECT_EQ(values_of(result, clock_reasons_metric(metric::kOutOfPlace)), std::vector<double>(2 * kRanks, after));
  CaseResult stored;
  stored.samples = result.samples;
  EXPECT_EQ(throttled_share(stored, metric::kInPlace).worst(), Throttling::none);
  EXPECT_EQ(throttled_share(stored, metric::kInPlace).iterations, 2U);
  EXPECT_EQ(throttled_share(stored, metric::kOutOfPlace).throttled, 2U);
}

TEST(MeasuringLoop, StoresNothingOfGpusThatNobodyCanLookAt) {
  CollectiveRequest request = on_devices(CollectiveKind::all_reduce, ReduceOp::sum);
  request.max_bytes = request.min_bytes;
  for (const LoopResult& result : measured(cases_of(request), [](Device&) { return nullptr; }))
    for (const Sample& sample : result.samples)
      EXPECT_EQ(sample.metric.find("clock"), std::string::npos) << sample.metric;
}

std::optional<double> value_of(const LoopResult& result, std::string_view metric) {
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) return sample.value;
  return std::nullopt;
}

// The plan asks what real GPUs have; these devices have more.
TEST(MeasuringLoop, ChecksLossyResultsOnDevicesAndLeavesOutTheTimesOfTheirCodecs) {
  CollectiveRequest request = on_devices(CollectiveKind::all_reduce, ReduceOp::average);
  request.executors = {"threads"};
  request.compressors = {"fp16", "int8", "ef:topk", "sign", "powersgd"};
  std::vector<LoopCase> cases;
  for (const LoopCase& host : cases_of(request)) {
    for (const char* executor : {"cuda", "threads"}) {
      cases.push_back(host);
      cases.back().index = static_cast<int>(cases.size()) - 1;
      cases.back().asked.collective.executor = executor;
    }
  }
  ASSERT_EQ(cases.size(), 2 * 5 * 2);  // sizes, compressors, executors
  std::vector<LoopResult> results = measured(cases);
  ASSERT_EQ(results.size(), cases.size());
  std::ranges::sort(results, {}, &LoopResult::index);
  for (std::size_t i = 0; i < results.size(); i += 2) {
    SCOPED_TRACE(cases[i].asked.strategy.compressor);
    const LoopResult& device = results[i];
    const LoopResult& host = results[i + 1];
    EXPECT_EQ(device.refusal, "");
    for (const LoopResult* result : {&device, &host}) {
      EXPECT_EQ(value_of(*result, metric::kInPlaceWrong), 0);
      EXPECT_EQ(value_of(*result, metric::kOutOfPlaceWrong), 0);
      EXPECT_GT(value_of(*result, metric::kInPlace), 0);
      EXPECT_GT(value_of(*result, metric::kWireBytes), 0);
    }
    // The same bits are as far from the exact result.
    EXPECT_EQ(value_of(device, metric::kRelativeError), value_of(host, metric::kRelativeError));
    EXPECT_EQ(value_of(device, metric::kCosine), value_of(host, metric::kCosine));
    EXPECT_EQ(value_of(device, metric::kEncode), std::nullopt);
    EXPECT_EQ(value_of(device, metric::kDecode), std::nullopt);
    EXPECT_GT(value_of(host, metric::kEncode), 0);
  }
}

}  // namespace
}  // namespace hbench::collective_device_test
