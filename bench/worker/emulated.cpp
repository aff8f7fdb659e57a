#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/records/emulation.hpp"
#include "bench/worker/rank_resources.hpp"
#include "bench/worker/training.hpp"
#include "collectives/transport/local_transport.hpp"

namespace hbench {
namespace {

/// Time of all processors since the machine started, in clock ticks.
struct ProcessorTimes {
  double all = 0;
  double idle = 0;
};

ProcessorTimes processor_times() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  stat >> cpu;
  ProcessorTimes times;
  // user nice system idle iowait irq softirq steal
  for (int column = 0; column < 8; ++column) {
    double ticks = 0;
    stat >> ticks;
    times.all += ticks;
    if (column == 3 || column == 4) times.idle += ticks;
  }
  return times;
}

/// Looks at the processors in a thread of its own, until it is asked what there was in the timed steps.
class ProcessorWatch {
 public:
  struct Shares {
    double idle = 0;
    double busy = 0;  ///< of slices in which they were idle for less than a twentieth
  };

  void see(const StepReport& step) {
    const std::scoped_lock lock(mutex_);
    if (step.warmup || slices_.empty()) slices_ = {processor_times()};
    if (!step.warmup) slices_.push_back(processor_times()), timed_ = slices_.size();
  }
  std::optional<Shares> shares() const {
    const std::scoped_lock lock(mutex_);
    if (timed_ < 2) return std::nullopt;
    double busy = 0;
    for (std::size_t i = 1; i < timed_; ++i) {
      const double all = slices_[i].all - slices_[i - 1].all, idle = slices_[i].idle - slices_[i - 1].idle;
      if (idle < 0.05 * all) busy += all;
    }
    const double all = slices_[timed_ - 1].all - slices_[0].all;
    if (all <= 0) return std::nullopt;
    return Shares{(slices_[timed_ - 1].idle - slices_[0].idle) / all, busy / all};
  }

 private:
  void watch(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kSlice{200};
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (!slices_.empty()) slices_.push_back(processor_times());
      ended_.wait_for(lock, stop, kSlice, [] { return false; });
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable_any ended_;
  std::vector<ProcessorTimes> slices_;  ///< since the last warm-up step ended
  std::size_t timed_ = 0;               ///< the number of slices until the last timed step ended
  std::jthread thread_{[this](const std::stop_token& stop) { watch(stop); }};
};

/// A socket that is made in the network of the first process, where all ranks' are (`bench/emulation/namespaces.hpp`).
std::unique_ptr<Transport> make_control(const Transport& ranks, const EmulatedCosts& costs) {
  const int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
            common = open("/proc/1/ns/net", O_RDONLY | O_CLOEXEC);
  if (own < 0 || common < 0 || setns(common, CLONE_NEWNET) != 0)
    throw Error(ExitCode::environment, "an emulated rank cannot reach the network that all share",
                "internal verb: hbench sweep --evidence emulated starts it");
  const auto node = [&](Rank rank) { return costs.node_of_rank.at(static_cast<std::size_t>(rank)); };
  const Rank rank = ranks.rank();
  const auto delay = [&costs, node, rank](Rank from) {
    return costs.latency(node(from) == node(rank), 0) - costs.noticed_late;
  };
  std::unique_ptr<Transport> control = make_local_transport("hbench-control", rank, ranks.size(), delay);
  const bool back = setns(own, CLONE_NEWNET) == 0;
  close(own);
  close(common);
  if (!back) throw Error(ExitCode::environment, "an emulated rank cannot return to its network");
  return control;
}

SamplesLine sample(Rank rank, std::string_view metric, const char* unit, double value) {
  return {.rank = rank,
          .index = 0,
          .metric = std::string(metric),
          .unit = unit,
          .warmup = false,
          .first = 0,
          .values = {value}};
}

/// What an MPI library keeps messages in is used again, rather than given back to the kernel, which clears it for the
/// next: that was a fifth of the time of all ranks of a parameter server's.
void keep_memory() {
  constexpr int kMost = 32 << 20;  // what glibc takes
  mallopt(M_MMAP_THRESHOLD, kMost);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kMost);
}

}  // namespace

ExitCode run_emulated_worker(const WorkOrder& order, const Say& say) {
  keep_memory();
  const EmulationOrder& emulation = *order.emulation;
  TrainingRequest request = training_request(order);
  request.node_of_rank = emulation.costs.node_of_rank;
  request.dilation = emulation.replay.dilation;
  request.polling = emulation.polling;
  request.strategy.on_gpu = false;  // cores replay it, whatever it was recorded on
  const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints(order.timeout);
  require_ranks(endpoints->home().transport(), request.world.ranks());
  const std::unique_ptr<Endpoint> endpoint = make_emulated_endpoint(
      endpoints->home(), emulation.costs, make_control(endpoints->home().transport(), emulation.costs));
  const Rank rank = endpoint->transport().rank();
  return run_rank(endpoint.get(), say, [&] {
    SpanLog spans;
    std::optional<ProcessorWatch> watch;
    if (rank == 0) watch.emplace();
    const ReplayEnd end = replay(request, emulation.replay, *endpoint, [&](const StepReport& step) {
      if (!step.spans.empty()) return spans.keep(step);
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
      if (watch) watch->see(step);
    });
    if (const auto shares = watch ? watch->shares() : std::nullopt) {
      say(sample(0, metric::kEmulatedIdle, "1", shares->idle));
      say(sample(0, metric::kEmulatedBusy, "1", shares->busy));
    }
    say(sample(rank, metric::kReplayTime, "s", end.processor_time.value));
    if (request.traced_steps > 0) spans.tell(endpoint.get(), request.timeout, say);
    tell_end(rank, end.training, say);
  });
}

}  // namespace hbench
