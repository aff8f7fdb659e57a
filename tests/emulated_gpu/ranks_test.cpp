// Ranks on emulated GPUs: the executors cuda and nccl-p2p with every schedule, nccl with its own collectives, and ranks
// that are processes and open each other's memory.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda_endpoints.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/exchanged.hpp"
#include "tests/collectives/shared_ranks.hpp"
#include "tests/collectives/thread_ranks.hpp"
#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::ranks_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

constexpr Seconds kTimeout{60};

/// Runs a rank's part of a case twice. \throws Error (wrong_data) when its result is wrong.
void run_case(Endpoint& endpoint, const Case& c) {
  const Schedule schedule = c.algorithm.algorithm->is_vendor()
                                ? Schedule{.world = c.world, .chunks = c.world.workers, .transfers = {}, .offsets = {}}
                                : schedule_of(c);
  const Rank rank = endpoint.transport().rank();
  Device& device = endpoint.device();
  std::vector<std::byte> content = given(c, schedule, rank);
  const DeviceMemory memory = device.allocate(content.size());
  const std::span<std::byte> buffer(memory.get(), content.size());
  const auto operation = prepare_exchange(
      endpoint,
      {.world = c.world, .algorithm = c.algorithm, .compressor = c.compressor, .operand = {buffer, c.type, c.op}});
  for (int run = 0; run < 2; ++run) {
    content = given(c, schedule, rank);
    device.write(content, buffer);
    if (run > 0) operation->restart();
    wait_for(*operation, kTimeout, c.name());
    device.read(buffer, content);
    if (const std::string wrong = judge(c, schedule, rank, content); !wrong.empty())
      throw Error(ExitCode::wrong_data, wrong);
  }
}

/// Every case with several sizes, types and operations in turn.
std::vector<Case> in_turn(const std::vector<Case>& of, std::vector<std::int64_t> sizes) {
  std::vector<Case> cases;
  std::size_t turn = 0;
  for (Case c : of)
    for (const std::int64_t elements : sizes) {
      c.elements = elements;
      c.type = data_types()[turn % data_types().size()]->type;
      c.op = reduce_ops()[turn++ / 3 % reduce_ops().size()]->op;
      if (!refuse_exchange(c.algorithm, c.compressor, c.type, c.op, c.world).empty()) {
        c.type = DataType::float32;
        c.op = ReduceOp::sum;
      }
      cases.push_back(c);
    }
  return cases;
}

std::vector<Case> every_schedule(int ranks) { return in_turn(plain_cases(ranks), {0, 1, 997, 5'011}); }

std::vector<Case> every_vendor_collective(int ranks) {
  std::vector<Case> cases;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->is_vendor()) cases.push_back({{algorithm, {}}, parse_compressor("none"), {.workers = ranks}});
  std::vector<std::int64_t> sizes;
  for (const int parts : {0, 1, 2, 3, 5, 64, 997, 1'001}) sizes.push_back(parts * ranks);
  return in_turn(cases, sizes);
}

/// `gpus` of the emulated GPUs, and what NCCL needs for several ranks on one.
struct Machine {
  explicit Machine(int gpus) {
    emulated_gpu::machine().peers = {};
    emulated_gpu::show_devices(gpus);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  }
  ~Machine() { emulated_gpu::show_devices(2); }
};

void run_threads(std::string_view executor, int ranks, const std::vector<Case>& cases) {
  Endpoints endpoints = find_executor(executor)->make_endpoints(ranks);
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    for (const Case& c : cases) run_case(endpoint, c);
  });
}

/// Executor, GPUs and ranks.
using Setting = std::tuple<const char*, int, int>;
class RanksOnGpus : public ::testing::TestWithParam<Setting> {};

TEST_P(RanksOnGpus, RunEverySchedule) {
  const auto& [executor, gpus, ranks] = GetParam();
  const Machine machine(gpus);
  run_threads(executor, ranks, every_schedule(ranks));
}

INSTANTIATE_TEST_SUITE_P(Emulated, RanksOnGpus,
                         ::testing::Combine(::testing::Values("cuda", "nccl-p2p"), ::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4)));

class NcclOnGpus : public ::testing::TestWithParam<int> {};

TEST_P(NcclOnGpus, RunsItsOwnCollectives) {
  const Machine machine(2);
  run_threads("nccl", GetParam(), every_vendor_collective(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Emulated, NcclOnGpus, ::testing::Values(1, 2, 3, 4));

std::vector<std::byte> content_of(Device& device, std::span<const std::byte> buffer) {
  std::vector<std::byte> bytes(buffer.size());
  device.read(buffer, bytes);
  return bytes;
}

// The executor cuda is tested so by cuda_exchange_test.cpp, which a real GPU runs too.
TEST(CompressedOverNccl, EndsAsInHostMemory) {
  const Machine machine(2);
  const ExecutorKind& executor = *find_executor("nccl-p2p");
  for (const int ranks : {2, 3}) {
    Endpoints gpus = executor.make_endpoints(ranks), host = make_thread_endpoints(ranks);
    for (Case c : compressed_in_every_form(ranks)) {
      const bool adds_otherwise = c.compressor.compressor->exchange == Exchange::low_rank;
      if (adds_otherwise || !executor.refuses(c.compressor).empty() ||
          c.algorithm.algorithm->collective != CollectiveKind::all_reduce)
        continue;
      c.elements = 1'009;
      SCOPED_TRACE(c.name());
      ASSERT_EQ(exchanged(gpus, c, content_of), exchanged(host, c, content_of));
    }
  }
}

/// A rank that is a forked process. Returns its exit code.
int run_process(const std::shared_ptr<SharedMemory>& memory, int ranks, Rank rank) {
  emulated_gpu::start_anew_after_fork();
  try {
    const auto home = make_shared_endpoint(memory, Hosts::only(ranks, rank), nullptr);
    const auto endpoint = make_cuda_endpoint(*home);
    for (const Case& c : every_schedule(ranks)) run_case(*endpoint, c);
    emulated_gpu::drain();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    return 1;
  }
  const auto reports = emulated_gpu::take_reports();
  for (const auto& report : reports) std::fprintf(stderr, "rank %d: %s\n", rank, text_of(report).c_str());
  return reports.empty() ? 0 : 2;
}

TEST(ProcessesOnGpus, OpenEachOthersMemory) {
  for (const int ranks : {1, 2, 3}) {
    const auto memory = std::make_shared<SharedMemory>(SharedMemory::create(SharedSegment::bytes(ranks, 1 << 20)));
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
      children.push_back(fork());
      if (children.back() == 0) _exit(run_process(memory, ranks, rank));
    }
    for (const pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << ranks << " ranks";
    }
  }
}

}  // namespace
}  // namespace hbench::ranks_test
