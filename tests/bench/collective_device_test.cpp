// The measuring loop on buffers that are not the host's, with devices that do what they are told later.

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "analysis/collectives.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/rank_loop.hpp"
#include "tests/collectives/lazy_device.hpp"

namespace hbench {
namespace {

constexpr int kRanks = 3;

/// Messages between ranks go through host memory, what executor cuda measures through lazy devices.
class BothEndpoints final : public RankEndpoints {
 public:
  BothEndpoints(Endpoint& host, Endpoint& device) : host_(host), device_(device) {}
  Endpoint& of(std::string_view executor) override { return executor == "cuda" ? device_ : host_; }

 private:
  Endpoint& host_;
  Endpoint& device_;
};

std::vector<LoopCase> cases_of(const CollectiveRequest& request) {
  return make_collective_plan(request, {}, {}).sets.at(0).cases;
}

/// What rank 0 says.
std::vector<LoopResult> measured(const std::vector<LoopCase>& cases) {
  const auto host = make_thread_endpoints(kRanks);
  const auto device = make_thread_endpoints(
      kRanks, [](Rank rank) { return std::make_shared<testing::LazyDevice>(static_cast<unsigned>(rank + 1)); });
  const LoopOptions options{.warmups = 1, .iterations = 2};
  std::vector<LoopResult> results;
  std::vector<std::jthread> ranks;
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] {
      BothEndpoints endpoints(*host[rank], *device[rank]);
      run_loop(cases, options, endpoints, {},
               {.begin = [](const std::vector<int>&) {},
                .working = [](int) {},
                .end = [&](const LoopResult& result) { results.push_back(result); }});
    });
  ranks.clear();
  return results;
}

CollectiveRequest on_devices(Goal goal, ReduceOp op) {
  CollectiveRequest request;
  request.goal = goal;
  request.op = op;
  request.min_bytes = 12;
  request.max_bytes = 12'000;
  request.factor = 1000;
  request.ranks = {kRanks};
  request.executors = {"cuda", "threads"};
  return request;
}

TEST(MeasuringLoop, IsRightAndTimedOnDevicesBesideHostMemory) {
  for (const Goal goal : {Goal::all_reduce, Goal::reduce_scatter, Goal::all_gather, Goal::broadcast})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product}) {
      SCOPED_TRACE(to_string(goal));
      const std::vector<LoopCase> cases = cases_of(on_devices(goal, op));
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

std::optional<double> value_of(const LoopResult& result, std::string_view metric) {
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) return sample.value;
  return std::nullopt;
}

// The plan asks what real GPUs have; these devices have more.
TEST(MeasuringLoop, ChecksLossyResultsOnDevicesAndLeavesOutTheTimesOfTheirCodecs) {
  CollectiveRequest request = on_devices(Goal::all_reduce, ReduceOp::average);
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
}  // namespace hbench
