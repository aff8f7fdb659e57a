// Lossy exchanges of ranks whose devices do what they are told later.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/schedule/schedule.hpp"
#include "tests/collectives/exchanged.hpp"
#include "tests/collectives/posted_groups.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::device_exchange_test {
namespace {

using namespace ::hbench::support;

Endpoints lazy_endpoints(int ranks) {
  return make_thread_endpoints(ranks, [](Rank rank) { return std::make_shared<LazyDevice>(23 * rank + 5); });
}

/// Schedules travel in groups, and messages in host memory: as with NCCL between processes.
class GroupedEndpoint final : public Endpoint {
 public:
  GroupedEndpoint(std::unique_ptr<Endpoint> threads, std::shared_ptr<Post> post)
      : threads_(std::move(threads)),
        post_(std::move(post)),
        messages_(*post_, transport().rank(), static_cast<LazyDevice&>(device())) {}

  Transport& transport() override { return threads_->control(); }
  Device& device() override { return threads_->device(); }
  std::unique_ptr<Operation> prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) override {
    return std::make_unique<GroupedProgram>(plan_for(schedule, transport().rank()), messages_, operand, codec);
  }
  [[noreturn]] void abort(int exit_code) override {
    threads_->abort(exit_code);
    std::abort();
  }

 private:
  std::unique_ptr<Endpoint> threads_;
  std::shared_ptr<Post> post_;
  PostedGroups messages_;
};

Endpoints grouped_endpoints(int ranks) {
  const auto post = std::make_shared<Post>();
  Endpoints endpoints;
  for (auto& each : lazy_endpoints(ranks))
    endpoints.push_back(std::make_unique<GroupedEndpoint>(std::move(each), post));
  return endpoints;
}

/// Complete is complete: the memory is read as it is, without asking the device for it.
Results exchanged(Endpoints& endpoints, const Case& c) {
  return support::exchanged(endpoints, c, [](Device&, std::span<const std::byte> buffer) {
    return std::vector<std::byte>(buffer.begin(), buffer.end());
  });
}

bool works_on_devices(const CompressorChoice& choice) {
  return !choice.compressor->bytes_vary && choice.compressor->make_memory == nullptr;
}

/// Every compressor that devices have, in every form, with every algorithm and with sums and averages.
std::vector<Case> cases_of(int ranks) {
  std::vector<Case> cases;
  for (Case c : support::compressed_in_every_form(ranks)) {
    if (!works_on_devices(c.compressor) || c.algorithm.algorithm->collective != CollectiveKind::all_reduce) continue;
    for (const std::int64_t elements : {1, 1009}) {
      c.elements = elements;
      c.op = elements == 1 ? ReduceOp::average : ReduceOp::sum;
      cases.push_back(c);
    }
  }
  return cases;
}

class DeviceExchange : public ::testing::TestWithParam<int> {};

TEST_P(DeviceExchange, EndsWithTheBitsOfHostMemory) {
  Endpoints lazy = lazy_endpoints(GetParam()), host = make_thread_endpoints(GetParam());
  for (const Case& c : cases_of(GetParam())) ASSERT_TRUE(exchanged(lazy, c) == exchanged(host, c)) << c.name();
}

TEST_P(DeviceExchange, EndsWithTheSameBitsWhereMessagesTravelInGroups) {
  Endpoints grouped = grouped_endpoints(GetParam()), host = make_thread_endpoints(GetParam());
  for (const Case& c : cases_of(GetParam())) ASSERT_TRUE(exchanged(grouped, c) == exchanged(host, c)) << c.name();
}

INSTANTIATE_TEST_SUITE_P(, DeviceExchange,
                         ::testing::ValuesIn(support::kSanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 5}));

/// Exchanges of one gradient that a rank has under way at once.
class Together {
 public:
  Together(Endpoint& endpoint, const Case& c, int exchanges)
      : bytes_(static_cast<std::size_t>(c.elements) * sizeof(float)) {
    Device& device = endpoint.device();
    memory_ = device.allocate(bytes_ * static_cast<std::size_t>(exchanges));
    const std::vector<float> gradient = support::gradient_of(endpoint.transport().rank(), c.elements);
    for (int i = 0; i < exchanges; ++i) {
      device.write(std::as_bytes(std::span(gradient)), buffer(i));
      operations.push_back(prepare_exchange(endpoint, {.world = c.world,
                                                       .algorithm = c.algorithm,
                                                       .compressor = c.compressor,
                                                       .operand = {buffer(i), DataType::float32, c.op}}));
    }
  }

  std::span<std::byte> buffer(int i) { return {memory_.get() + static_cast<std::size_t>(i) * bytes_, bytes_}; }

 private:
  std::size_t bytes_;
  DeviceMemory memory_;

 public:
  std::vector<std::unique_ptr<Operation>> operations;
};

TEST(DeviceExchanges, MayBeUnderWayTogether) {
  constexpr int kExchanges = 3;
  for (const char* name : {"topk:0.1", "ef:powersgd:2", "int8", "ef2:onebit"})
    for (const auto& make_endpoints : {lazy_endpoints, grouped_endpoints}) {
      Case c = support::plain_cases(3).front();
      c.compressor = parse_compressor(name);
      c.elements = 500;
      Endpoints host = make_thread_endpoints(3), endpoints = make_endpoints(3);
      const Results right = exchanged(host, c);
      support::run_ranks(endpoints, [&](Endpoint& endpoint) {
        const Rank rank = endpoint.transport().rank();
        Together together(endpoint, c, kExchanges);
        // They begin in one order; but one rank is half through with the first before it looks at the others.
        for (int looks = 0; rank == 1 && looks < 500; ++looks) {
          together.operations[0]->progress();
          std::this_thread::sleep_for(std::chrono::microseconds(10));
        }
        for (int done = 0; done < kExchanges;) {
          done = 0;
          for (const auto& operation : together.operations) done += operation->progress() ? 1 : 0;
        }
        const std::vector<std::byte>& sum = right[static_cast<std::size_t>(rank)][0];
        for (int i = 0; i < kExchanges; ++i) EXPECT_TRUE(std::ranges::equal(together.buffer(i), sum)) << name << i;
      });
    }
}

TEST(DeviceExchanges, AreLetGoInTheMiddleOfTheirWork) {
  for (const char* name : {"topk:0.1", "ef:powersgd:2", "int8", "ef2:onebit"})
    for (int looks = 0; looks < 12; ++looks) {
      Endpoints endpoints = lazy_endpoints(2);
      Case c = support::plain_cases(2).front();
      support::run_ranks(endpoints, [&](Endpoint& endpoint) {
        Device& device = endpoint.device();
        const DeviceMemory memory = device.allocate(4000);
        const auto operation =
            prepare_exchange(endpoint, {.world = c.world,
                                        .algorithm = c.algorithm,
                                        .compressor = parse_compressor(name),
                                        .operand = {{memory.get(), 4000}, DataType::float32, ReduceOp::sum}});
        for (int i = 0; i < (endpoint.transport().rank() == 1 ? looks : 100); ++i) operation->progress();
      });
    }
}

// Letting go of them meets the failure again.
TEST(DeviceExchanges, SayWhatTheirGpuFailedOf) {
  for (const char* name : {"none", "int8", "topk:0.1", "ef:powersgd:2", "ef2:onebit"})
    for (int looks = 0; looks < 8; ++looks) {
      const auto gpu = std::make_shared<support::LazyGpu>();
      Endpoints endpoints =
          make_thread_endpoints(2, [&](Rank rank) { return std::make_shared<LazyDevice>(31 * rank + 7, gpu); });
      std::atomic<int> failures = 0;
      support::run_ranks(endpoints, [&](Endpoint& endpoint) {
        Device& device = endpoint.device();
        const DeviceMemory memory = device.allocate(4000);
        try {
          const auto operation =
              prepare_exchange(endpoint, {.world = {.workers = 2},
                                          .algorithm = parse_algorithm("ring"),
                                          .compressor = parse_compressor(name),
                                          .operand = {{memory.get(), 4000}, DataType::float32, ReduceOp::sum}});
          for (int i = 0; !operation->progress(); ++i)
            if (endpoint.transport().rank() == 0 && i == looks) gpu->failed = true;
          gpu->failed = true;
          synchronize(device);
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), AnyOf(StrEq("the lazy device has failed"), EndsWith("stopped the job")));
          ++failures;
          EXPECT_THROW(endpoint.abort(3), Error);
        }
      });
      EXPECT_EQ(failures, 2) << name;
    }
}

TEST(DeviceExchanges, SayWhatTheDeviceCannotDo) {
  const Endpoints endpoints = lazy_endpoints(1);
  Device& device = endpoints[0]->device();
  EXPECT_EQ(refuse_device(device, parse_compressor("none")), "");
  EXPECT_EQ(refuse_device(device, parse_compressor("ef:topk")), "");
  EXPECT_EQ(refuse_device(device, parse_compressor("ef2:onebit")), "");
  EXPECT_EQ(refuse_device(device, parse_compressor("powersgd")), "");
  EXPECT_EQ(refuse_device(device, parse_compressor("dgc")), "dgc keeps its memory on the host, not on a GPU");
  EXPECT_EQ(refuse_device(device, parse_compressor("threshold")), "threshold works in host memory, not on a GPU");
  for (const Compressor* compressor : compressors())
    EXPECT_EQ(refuse_device(host_device(), parse_compressor(compressor->name)), "");
  std::vector<float> buffer(3);
  expect_error(
      [&] {
        prepare_exchange(*endpoints[0], {.world = {.workers = 1},
                                         .algorithm = parse_algorithm("ring"),
                                         .compressor = parse_compressor("dgc"),
                                         .operand = Operand::of(buffer)});
      },
      ExitCode::usage, "dgc keeps its memory on the host, not on a GPU", ::testing::_);
}

}  // namespace
}  // namespace hbench::device_exchange_test
