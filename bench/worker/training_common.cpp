#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/metrics.hpp"
#include "bench/worker/agreement.hpp"
#include "bench/worker/training.hpp"
#include "collectives/transport/host_place.hpp"
#include "workloads/simulation/step_times.hpp"

namespace hbench {
namespace {

constexpr std::size_t kNumbers = 6;  ///< of a span
constexpr std::size_t kBegin = 3, kEnd = 4;
/// Shorter than what a launcher passes on in one piece (Open MPI: 4096 bytes).
constexpr std::size_t kSpansPerLine = 60;

Seconds now() {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void tell_of(Rank rank, const std::vector<double>& numbers, const Say& say) {
  SpansLine line{.rank = rank, .iteration = -1};
  const auto flush = [&] {
    if (!line.spans.empty()) say(line);
    line.spans.clear();
  };
  for (std::size_t i = 0; i + kNumbers <= numbers.size() && !std::isnan(numbers[i]); i += kNumbers) {
    const int iteration = static_cast<int>(numbers[i]);
    if (iteration != line.iteration || line.spans.size() == kSpansPerLine) flush();
    line.iteration = iteration;
    line.spans.push_back({.rank = rank,
                          .lane = kLanes.at(static_cast<std::size_t>(numbers[i + 2])),
                          .kind = kSpanKinds.at(static_cast<std::size_t>(numbers[i + 1])),
                          .begin = Seconds(numbers[i + kBegin]),
                          .end = Seconds(numbers[i + kEnd]),
                          .bucket = static_cast<int>(numbers[i + 5])});
  }
  flush();
}

}  // namespace

void tell_end(Rank rank, const TrainingEnd& end, const Say& say) {
  const auto sample = [&](std::string metric, double value, const char* unit = "1") {
    say(SamplesLine{rank, 0, std::move(metric), unit, false, 0, {value}});
  };
  if (end.consensus_distance) sample(std::string(metric::kConsensusDistance), *end.consensus_distance);
  if (!end.unseen.empty())
    for (const auto& [name, value] : Staleness::of(end.unseen).parts())
      sample(fmt::format("{}{}", metric::kStaleness, name), value);
  if (end.sent) {
    sample(fmt::format("{}within", metric::kSent), end.sent->within, "B");
    sample(fmt::format("{}between", metric::kSent), end.sent->between, "B");
  }
  say(DoneLine{rank, fmt::format("{:016x}", end.digest)});
}

TrainingRequest training_request(const WorkOrder& order) {
  TrainingRequest request;
  request.model = order.asked.workload;
  request.own = order.own;
  request.batch = order.asked.micro_batch();
  request.micro_batches = std::max(order.asked.accumulate, 1);
  request.image_size = order.asked.image_size;
  request.strategy = planned(order.asked).strategy;
  request.workers_per_node = workers_per_node(order.asked);
  request.world = request.strategy.world(order.asked.workers(), request.workers_per_node);
  for (Rank rank = 0; rank < request.world.ranks(); ++rank)
    request.node_of_rank.push_back(rank < request.world.workers
                                       ? rank / request.workers_per_node
                                       : (rank - request.world.workers) % std::max(order.asked.nodes, 1));
  request.warmup_steps = order.warmup_steps;
  request.steps = order.steps;
  request.budget = order.budget;
  request.timeout = order.timeout;
  request.traced_steps = order.traced_steps;
  request.faults = order.faults;
  if (order.delay.is_set()) request.faults.push_back({.rank = order.delay.rank, .delay = order.delay.time});
  request.checkpoint = order.checkpoint;
  request.data = order.asked.training.data;
  request.epochs = order.asked.training.epochs;
  if (order.asked.training.learning_rate > 0) request.learning_rate = order.asked.training.learning_rate;
  request.seed = order.seed;
  return request;
}

void SpanLog::keep(const StepReport& step) {
  for (const Span& span : step.spans)
    numbers_.insert(numbers_.end(), {static_cast<double>(step.iteration), static_cast<double>(span.kind),
                                     static_cast<double>(span.lane), span.begin.value, span.end.value,
                                     static_cast<double>(span.bucket)});
}

void SpanLog::tell(Endpoint* endpoint, Seconds timeout, const Say& say) {
  if (endpoint == nullptr) return tell_of(0, numbers_, say);
  to_clock_of_first(endpoint->control(), timeout);
  Agreement agreement(endpoint->control(), timeout);
  // Ranks send equally many; what they lack is no span.
  const double most = agreement.largest(static_cast<double>(numbers_.size()));
  numbers_.resize(static_cast<std::size_t>(most), std::numeric_limits<double>::quiet_NaN());
  const std::vector<std::vector<double>> all = agreement.gather(numbers_);
  for (std::size_t rank = 0; rank < all.size(); ++rank) tell_of(static_cast<Rank>(rank), all[rank], say);
}

void SpanLog::to_clock_of_first(Transport& transport, Seconds timeout) {
  if (find_host_place(transport, timeout).hosts == 1) return;
  const Seconds ahead = clock_ahead_of_first(transport, now, timeout);
  for (std::size_t i = 0; i < numbers_.size(); i += kNumbers)
    for (const std::size_t time : {i + kBegin, i + kEnd}) numbers_[time] -= ahead.value;
}

}  // namespace hbench
