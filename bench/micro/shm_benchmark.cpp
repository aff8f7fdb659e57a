// The all-reduce over shared memory beside the MPI library's own, in one set of processes, in place, float32 sums:
//
//     mpirun -n 4 shm_benchmark [largest size in bytes [seconds per size]]
//
// Both are run in turn, each after a meeting of all ranks; the order changes from iteration to iteration. The time of
// an iteration is that of its slowest rank, the time of a size the median of its iterations. `bound` is the time of the
// unavoidable traffic: all buffers are read once and written once, at the rate at which as many ranks as there are
// cores copy buffers that fit in no cache, measured in the same run.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/wait.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kTimeout{120};
constexpr std::size_t kSmallest = 1 << 10;
constexpr std::size_t kCopyBytes = 128 << 20;
constexpr int kCopies = 11;
constexpr int kWarmUps = 5;
constexpr int kFewest = 11;
constexpr int kMost = 2001;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Benchmark {
 public:
  explicit Benchmark(Endpoint& endpoint) : endpoint_(endpoint) {
    meeting_ = endpoint_.vendor(CollectiveKind::all_reduce, Operand::of({&nothing_, 1}));
    wait_for(*meeting_, kTimeout, "meeting");
  }

  int ranks() const { return endpoint_.transport().size(); }
  bool talks() const { return endpoint_.transport().rank() == 0; }

  /// Seconds per byte that is read and written, all cores together: from one buffer to another, and in place.
  struct Rates {
    double copied;
    double in_place;
  };

  Rates memory_rates() {
    const std::span<std::byte> memory = endpoint_.allocate(kCopyBytes);
    const std::span<std::byte> a = memory.first(kCopyBytes / 2);
    const std::span<std::byte> b = memory.last(kCopyBytes / 2);
    const double copied = seconds_per_byte(a.size(), [&] { std::memcpy(b.data(), a.data(), a.size()); });
    // The smaller of a number and itself: nothing changes, and the compiler does not know.
    const double in_place = seconds_per_byte(a.size(), [&] { accumulate(DataType::float32, ReduceOp::min, a, a); });
    return {copied, in_place};
  }

  struct Result {
    double ours;
    double theirs;
    int iterations;
  };

  Result all_reduce(std::span<std::byte> buffer, std::span<std::byte> other, double budget) {
    const World world{.workers = ranks(), .servers = ranks(), .colocated = true};
    const AlgorithmChoice direct = parse_algorithm("ps");
    const auto ours = endpoint_.prepare(direct.build(world, 1), operand(buffer), nullptr);
    const auto theirs = endpoint_.vendor(CollectiveKind::all_reduce, operand(other));
    wait_for(*ours, kTimeout, "all-reduce");
    wait_for(*theirs, kTimeout, "all-reduce");
    std::vector<double> warm;
    for (int i = 0; i < kWarmUps; ++i) {
      const auto begin = Clock::now();
      once(*ours);
      once(*theirs);
      warm.push_back(seconds_since(begin));
    }
    const double both = median(slowest(warm));
    const int iterations = std::clamp(static_cast<int>(budget / both), kFewest, kMost);
    std::vector<double> our_times;
    std::vector<double> their_times;
    for (int i = 0; i < iterations; ++i) {
      if (i % 2 == 0) our_times.push_back(once(*ours));
      their_times.push_back(once(*theirs));
      if (i % 2 != 0) our_times.push_back(once(*ours));
    }
    return {median(slowest(our_times)), median(slowest(their_times)), iterations};
  }

 private:
  /// Of `work` on `bytes`, done by as many ranks as there are cores.
  template <class Work>
  double seconds_per_byte(std::size_t bytes, Work work) {
    const int working = std::min(ranks(), static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    std::vector<double> times;
    for (int i = 0; i < kCopies; ++i) {
      meet();
      const auto begin = Clock::now();
      if (endpoint_.transport().rank() < working) work();
      times.push_back(seconds_since(begin));
    }
    return median(slowest(times)) / (static_cast<double>(bytes) * working);
  }

  static Operand operand(std::span<std::byte> buffer) { return {buffer, DataType::float32, ReduceOp::sum}; }

  void meet() {
    meeting_->restart();
    meeting_->progress();
  }

  double once(Operation& operation) {
    operation.restart();
    meet();
    const auto begin = Clock::now();
    wait_for(operation, kTimeout, "all-reduce");
    return seconds_since(begin);
  }

  /// Of each iteration the time of the slowest rank.
  std::vector<double> slowest(std::vector<double> times) {
    const Operand all{std::as_writable_bytes(std::span(times)), DataType::float64, ReduceOp::max};
    wait_for(*endpoint_.vendor(CollectiveKind::all_reduce, all), kTimeout, "exchange of times");
    return times;
  }

  Endpoint& endpoint_;
  float nothing_ = 0;
  std::unique_ptr<Operation> meeting_;
};

void run(Endpoint& endpoint, std::size_t largest, double budget) {
  Benchmark benchmark(endpoint);
  const std::span<std::byte> buffer = endpoint.allocate(largest);
  const std::span<std::byte> other(static_cast<std::byte*>(std::aligned_alloc(4096, largest)), largest);
  std::ranges::fill(other, std::byte{0});
  const Benchmark::Rates rates = benchmark.memory_rates();
  const double rate = std::min(rates.copied, rates.in_place);
  if (benchmark.talks()) {
    fmt::print("{} ranks; memory is copied at {:.1f} GB/s, rewritten in place at {:.1f}\n", benchmark.ranks(),
               1e-9 / rates.copied, 1e-9 / rates.in_place);
    fmt::print("{:>10} {:>12} {:>12} {:>7} {:>12} {:>8} {:>6}\n", "bytes", "ours us", "MPI us", "ratio", "bound us",
               "of bound", "n");
  }
  double logarithms = 0;
  double least = INFINITY;
  int sizes = 0;
  for (std::size_t size = kSmallest; size <= largest; size *= 4, ++sizes) {
    const auto result = benchmark.all_reduce(buffer.first(size), other.first(size), budget);
    const double ratio = result.theirs / result.ours;
    const double bound = static_cast<double>(size) * benchmark.ranks() * rate;
    logarithms += std::log(ratio);
    least = std::min(least, ratio);
    if (benchmark.talks())
      fmt::print("{:>10} {:>12.2f} {:>12.2f} {:>7.2f} {:>12.2f} {:>7.0f}% {:>6}\n", size, 1e6 * result.ours,
                 1e6 * result.theirs, ratio, 1e6 * bound, 100 * bound / result.ours, result.iterations);
  }
  if (benchmark.talks())
    fmt::print("geometric mean of the ratio {:.2f}, least {:.2f}\n", std::exp(logarithms / sizes), least);
  std::free(other.data());
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  const auto endpoint = hbench::make_shm_endpoint(0);
  try {
    const std::size_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{256} << 20;
    hbench::run(*endpoint, largest, argc > 2 ? std::strtod(argv[2], nullptr) : 1.0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "shm_benchmark: {}\n", error.what());
    endpoint->abort(1);
  }
  return 0;
}
