// Ranks whose devices do what they are told later.

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/lazy_device.hpp"
#include "tests/collectives/thread_ranks.hpp"

namespace hbench::device_test {
namespace {

using namespace ::hbench::support;

constexpr Seconds kTimeout{60};

Endpoints lazy_endpoints(int ranks) {
  return make_thread_endpoints(ranks, [](Rank rank) { return std::make_shared<LazyDevice>(17 * rank + 1); });
}

/// What is in the rank's buffer afterwards.
std::vector<std::byte> run_case(Endpoint& endpoint, const Case& c, const std::vector<std::byte>& content,
                                const Codec* codec) {
  Device& device = endpoint.device();
  const DeviceMemory memory = device.allocate(content.size());
  const std::span<std::byte> buffer(memory.get(), content.size());
  device.write(content, buffer);
  const auto operation = endpoint.prepare(support::schedule_of(c), {buffer, c.type, c.op}, codec);
  wait_for(*operation, kTimeout, c.name());
  // Complete is complete: nothing is left for the device to do.
  return {buffer.begin(), buffer.end()};
}

class LazyDevices : public ::testing::TestWithParam<int> {};

TEST_P(LazyDevices, RunEveryAlgorithmAsHostMemoryDoes) {
  Endpoints endpoints = lazy_endpoints(GetParam());
  std::vector<Case> cases;
  for (Case c : support::plain_cases(GetParam()))
    for (const std::int64_t elements : {0, 1, 7, 1009}) {
      c.elements = elements;
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
        c.op = op;
        cases.push_back(c);
      }
    }
  support::run_ranks(endpoints, [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    for (const Case& c : cases) {
      const Schedule schedule = support::schedule_of(c);
      const std::vector<std::byte> result = run_case(endpoint, c, support::given(c, schedule, rank), nullptr);
      const std::string wrong = support::judge(c, schedule, rank, result);
      if (!wrong.empty()) throw std::runtime_error(wrong);
    }
  });
}

TEST_P(LazyDevices, RunCodecsPerHopAsHostMemoryDoes) {
  Endpoints lazy = lazy_endpoints(GetParam()), host = make_thread_endpoints(GetParam());
  for (const char* compressor : {"fp16", "int8"})
    for (Case c : support::plain_cases(GetParam())) {
      c.compressor = parse_compressor(compressor);
      c.elements = 1009;
      if (!refuse_exchange(c.algorithm, c.compressor, c.type, c.op, c.world).empty()) continue;
      std::vector<std::vector<std::byte>> expected(host.size()), results(host.size());
      const auto content = [&](Rank rank) {
        const std::vector<float> gradient = support::gradient_of(rank, c.elements);
        const auto bytes = std::as_bytes(std::span(gradient));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
      };
      support::run_ranks(host, [&](Endpoint& endpoint) {
        const Rank rank = endpoint.transport().rank();
        expected[static_cast<std::size_t>(rank)] = run_case(endpoint, c, content(rank), c.compressor.codec.get());
      });
      support::run_ranks(lazy, [&](Endpoint& endpoint) {
        const Rank rank = endpoint.transport().rank();
        const LazyCodec codec(c.compressor.codec, static_cast<LazyDevice&>(endpoint.device()));
        results[static_cast<std::size_t>(rank)] = run_case(endpoint, c, content(rank), &codec);
      });
      for (Rank rank = 0; rank < c.world.workers; ++rank)
        EXPECT_EQ(results[static_cast<std::size_t>(rank)], expected[static_cast<std::size_t>(rank)]) << c.name();
    }
}

INSTANTIATE_TEST_SUITE_P(, LazyDevices, ::testing::Values(1, 2, 3, 5));

TEST(Devices, LetAProgramThatIsAbandonedGoWhenTheyAreDoneWithIt) {
  Endpoints endpoints = lazy_endpoints(2);
  Case c = support::plain_cases(2).front();
  c.elements = 4099;
  for (int round = 0; round < 20; ++round) {
    const Schedule schedule = support::schedule_of(c);
    support::run_ranks(endpoints, [&](Endpoint& endpoint) {
      Device& device = endpoint.device();
      const DeviceMemory memory = device.allocate(4099 * sizeof(float));
      const Operand operand{std::span(memory.get(), 4099 * sizeof(float)), c.type, c.op};
      const auto operation = endpoint.prepare(schedule, operand, nullptr);
      // Rank 1 leaves early, in the middle of work.
      for (int i = 0; i < (endpoint.transport().rank() == 1 ? round : 200); ++i) operation->progress();
    });
    endpoints = lazy_endpoints(2);
  }
}

TEST(Devices, AllocateZeroedBuffersForEndpoints) {
  Endpoints endpoints = lazy_endpoints(1);
  const std::span<std::byte> buffer = endpoints[0]->allocate(1000);
  std::vector<std::byte> content(1000, std::byte{1});
  endpoints[0]->device().read(buffer, content);
  EXPECT_EQ(std::ranges::count(content, std::byte{0}), 1000);
}

TEST(Devices, ThatAreTheHostsWorkAtOnce) {
  Device& host = host_device();
  const DeviceMemory memory = host.allocate(64);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 64, 0);
  EXPECT_EQ(host.record_event(), nullptr);
  EXPECT_TRUE(host.query(nullptr));
}

}  // namespace
}  // namespace hbench::device_test
