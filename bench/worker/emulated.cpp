#include "bench/worker/emulated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "analysis/emulation.hpp"
#include "bench/worker/rank_endpoints.hpp"
#include "bench/worker/span_log.hpp"
#include "bench/worker/training_request.hpp"
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

/// Of the timed steps.
class IdleShare {
 public:
  void see(const StepReport& step) {
    if (step.warmup || !first_)
      first_ = processor_times();
    else
      last_ = processor_times();
  }
  std::optional<double> share() const {
    if (!last_ || last_->all <= first_->all) return std::nullopt;
    return (last_->idle - first_->idle) / (last_->all - first_->all);
  }

 private:
  std::optional<ProcessorTimes> first_, last_;
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

}  // namespace

ExitCode run_emulated_worker(const WorkOrder& order, const Say& say) {
  const EmulationOrder& emulation = *order.emulation;
  TrainingRequest request = training_request(order);
  request.dilation = emulation.replay.dilation;
  request.polling = emulation.polling;
  const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints();
  require_ranks(endpoints->home().transport(), request.world.ranks());
  const std::unique_ptr<Endpoint> endpoint = make_emulated_endpoint(
      endpoints->home(), emulation.costs, make_control(endpoints->home().transport(), emulation.costs));
  const Rank rank = endpoint->transport().rank();
  return run_rank(endpoint.get(), say, [&] {
    SpanLog spans;
    IdleShare idle;
    const ReplayEnd end = replay(request, emulation.replay, *endpoint, [&](const StepReport& step) {
      if (!step.spans.empty()) return spans.keep(step);
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
      if (rank == 0) idle.see(step);
    });
    if (const auto share = idle.share(); rank == 0 && share) say(sample(0, metric::kEmulatedIdle, "1", *share));
    say(sample(rank, metric::kReplayTime, "s", end.processor_time.value));
    if (request.traced_steps > 0) spans.tell(endpoint.get(), request.timeout, say);
    say(DoneLine{rank, fmt::format("{:016x}", end.digest)});
  });
}

}  // namespace hbench
