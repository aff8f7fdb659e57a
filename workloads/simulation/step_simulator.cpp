#include "workloads/simulation/step_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "collectives/exchange/exchange.hpp"
#include "workloads/simulation/free_run.hpp"
#include "workloads/simulation/rank_walk.hpp"

namespace hbench {
namespace {

constexpr auto kElementSize = static_cast<std::int64_t>(sizeof(float));

}  // namespace

double expected_largest_normal(int ranks) {
  if (ranks <= 1) return 0;
  // E[max] = integral over x > 0 of (1 - F(x)^n - F(-x)^n), Simpson's rule; beyond 12 the integrand is below 1e-29.
  const auto integrand = [ranks](double x) {
    const double upper = 0.5 * std::erfc(x / std::numbers::sqrt2);
    return -std::expm1(ranks * std::log1p(-upper)) - std::pow(upper, ranks);
  };
  constexpr int kIntervals = 2400;
  constexpr double kWidth = 12.0 / kIntervals;
  double sum = integrand(0) + integrand(12);
  for (int i = 1; i < kIntervals; ++i) sum += (i % 2 == 1 ? 4 : 2) * integrand(i * kWidth);
  return sum * kWidth / 3;
}

StepSimulator::StepSimulator(const Profile& profile, const World& world, StopRequested stop,
                             std::shared_ptr<ConcurrentPlans> plans)
    : profile_(&profile),
      stop_(std::move(stop)),
      world_(world),
      network_(profile, world),
      lateness_(expected_largest_normal(world.workers)),
      plans_(std::move(plans)) {}

std::vector<std::int64_t> StepSimulator::bucket_sizes() const {
  std::vector<std::int64_t> sizes;
  for (const auto& [key, exchanged] : exchanged_) sizes.push_back(std::get<std::int64_t>(key));
  return sizes;
}

Network& StepSimulator::network(double factor) {
  if (factor == 1) return network_;
  return slowed_.try_emplace(factor, profile_->slowed(factor), world_).first->second;
}

StepSimulator::Exchanged StepSimulator::exchange(const TrainingStrategy& strategy, const Task& task,
                                                 std::int64_t elements) {
  const AlgorithmChoice algorithm = algorithm_of(strategy, task, elements * kElementSize);
  const CompressorChoice compressor = compressor_of(strategy, task);
  const auto key = std::tuple(task.collective, task.groups, algorithm.text(), compressor.text(), elements);
  if (const auto known = exchanged_.find(key); known != exchanged_.end()) return known->second;
  const auto once = [&] {
    if (compressor.both_sides) return both_sides(algorithm, compressor, elements);
    switch (compressor.compressor->exchange) {
      case Exchange::per_hop:
        return collective(algorithm, compressor.encoding(), elements, task.groups);
      case Exchange::gather:
        return gather(algorithm, compressor, elements);
      case Exchange::low_rank:
        return low_rank(algorithm, compressor, elements);
    }
    return Exchanged();
  };
  return exchanged_.emplace(key, once()).first->second;
}

StepSimulator::Exchanged StepSimulator::gather(const AlgorithmChoice& algorithm, const CompressorChoice& compressor,
                                               std::int64_t elements) {
  const AlgorithmChoice all_gather = all_gather_of(algorithm).value();
  const std::int64_t payload = compressor.codec->max_wire_bytes(elements);
  const Exchanged lengths = collective(all_gather, {.element_size = sizeof(std::int64_t)}, world_.workers);
  Exchanged both = collective(all_gather, {.element_size = 1}, payload * world_.workers);
  both.time = both.time + lengths.time + coding_time(compressor, elements, 1, world_.workers);
  add(both.sent, lengths.sent);
  return both;
}

/// Ranks encode what they send to the rank that adds up a part, and it its sum: a part of the buffer. All sums are
/// decoded.
StepSimulator::Exchanged StepSimulator::both_sides(const AlgorithmChoice& algorithm, const CompressorChoice& compressor,
                                                   std::int64_t elements) {
  const std::int64_t part = (elements + world_.workers - 1) / world_.workers;
  const std::int64_t sums = compressor.codec->max_wire_bytes(part) * world_.workers;
  Exchanged both =
      collective(parse_algorithm("direct", CollectiveKind::reduce_scatter), compressor.encoding(), elements);
  const Exchanged gathered = collective(all_gather_of(algorithm).value(), {.element_size = 1}, sums);
  both.time = both.time + gathered.time + coding_time(compressor, part, 1, world_.workers);
  add(both.sent, gathered.sent);
  return both;
}

StepSimulator::Exchanged StepSimulator::low_rank(const AlgorithmChoice& algorithm, const CompressorChoice& compressor,
                                                 std::int64_t elements) {
  const std::int64_t factor = compressor.codec->max_wire_bytes(elements) / (2 * kElementSize);
  Exchanged both = collective(algorithm, {}, factor);
  both.time = 2 * both.time + coding_time(compressor, elements, 1, 1);
  add(both.sent, both.sent);
  return both;
}

StepSimulator::Exchanged StepSimulator::collective(const AlgorithmChoice& algorithm, const Encoding& encoding,
                                                   std::int64_t elements, const RankGroups& groups) {
  CollectiveModel& model = collectives_.try_emplace(groups, *profile_, world_, stop_, groups).first->second;
  return {model.answer(algorithm, encoding, elements).time, model.sent_per_rank(algorithm, encoding, elements)};
}

Seconds StepSimulator::coding_time(const CompressorChoice& compressor, std::int64_t elements, int encodes,
                                   int decodes) const {
  return Seconds(compressor.encoding().coding(static_cast<double>(elements * kElementSize), encodes, decodes,
                                              seconds_per_byte(profile_->memory_rate)));
}

/// One run of one workload where ranks are alike: one walk stands for all.
class StepRun : private Carrier {
 public:
  StepRun(StepSimulator& simulator, const StepTimeline& timeline, const TrainingStrategy& strategy,
          double network_factor, End end, std::vector<Span>* spans)
      : simulator_(simulator),
        strategy_(strategy),
        network_factor_(network_factor),
        walk_({.profile = *simulator.profile_,
               .timeline = timeline,
               .strategy = strategy,
               .world = simulator.world_,
               .network_factor = network_factor,
               .end = end,
               .spans = spans},
              *this),
        late_(1 + simulator.profile_->straggler * lateness(simulator.lateness_, plan())),
        in_flight_(simulator.network(network_factor), *simulator.plans_, timeline, strategy, walk_.spans()) {}

  const StepPlan& plan() const { return walk_.plan(); }

  /// Returns the times of an iteration and of as many after it as its exchange goes on beside, together.
  StepTimes step(int iteration) {
    in_flight_.begin();
    sent_ = Moved();
    const int lag = exchange_lag(plan(), iteration);
    walk_.begin(iteration, late_, lag);
    to_end();
    for (int i = 0; i < lag; ++i) {
      walk_.go_on();
      to_end();
    }
    StepTimes times = walk_.finish();
    times.sent = sent_;
    return times;
  }

 private:
  void to_end() {
    while (!walk_.ended()) {
      stop_if(simulator_.stop_);
      const double compute = walk_.next_compute(), network = in_flight_.next(walk_.now());
      walk_.move_to(std::min({compute, network, walk_.next_timer()}));
      if (walk_.now() == compute)
        walk_.compute_event();
      else if (walk_.now() == network)
        network_event();
      else
        walk_.timer_event();
    }
  }

  /// Ranks that meet after several iterations wait for who is slowest in all of them together: draws add up, and
  /// deviations by the root of their number.
  static double lateness(double of_one, const StepPlan& plan) { return of_one / std::sqrt(1 / exchanging_share(plan)); }

  void network_event() {
    if (const std::optional<int> bucket = in_flight_.advance(walk_.now())) walk_.arrived(*bucket);
  }

  void carry(RankWalk& rank, const LaunchedBucket& leaving) override {
    const auto& [at, coding] = leaving.departure;
    if (strategy_.algorithm.concurrent()) {
      rank.spans().add(SpanKind::coding, at, at + coding, leaving.number);
      return add(sent_, in_flight_.fly(leaving.bucket, leaving.elements, at + coding));
    }
    const auto [time, sent] = simulator_.exchange(strategy_, plan().task(leaving.task), leaving.elements);
    add(sent_, sent);
    const bool within_nodes = plan().task(leaving.task).groups.within(simulator_.profile_->gpus_per_domain());
    in_flight_.queue(leaving.number, at, coding + network_factor_ * time.value, coding, within_nodes);
  }

  StepSimulator& simulator_;
  const TrainingStrategy& strategy_;
  double network_factor_;
  RankWalk walk_;
  double late_;
  InFlight in_flight_;
  std::optional<Moved> sent_;  ///< in the step
};

namespace {

/// Which tasks of a plan are done in an iteration.
std::vector<bool> tasks_in(const StepPlan& plan, int iteration) {
  std::vector<bool> in;
  for (const Task& task : plan.tasks) in.push_back(task.is_in(iteration));
  return in;
}

/// The iterations of a cycle that are walked through for themselves: not those beside which an exchange goes on.
std::vector<int> walked(const StepPlan& plan) {
  std::vector<int> iterations;
  for (int i = plan.start(); i < plan.start() + plan.cycle(); i += 1 + exchange_lag(plan, i)) iterations.push_back(i);
  return iterations;
}

/// The mean step of a cycle of the plan, in which steps with the same tasks are alike.
StepTimes mean_step(StepRun& run) {
  const StepPlan& plan = run.plan();
  const int cycle = plan.cycle();
  if (cycle == 1) return run.step(plan.start());
  const std::vector<int> iterations = walked(plan);
  std::map<std::vector<bool>, int> alike;
  for (const int iteration : iterations) ++alike[tasks_in(plan, iteration)];
  StepTimes mean;
  for (const int iteration : iterations) {
    const auto found = alike.find(tasks_in(plan, iteration));
    if (found == alike.end()) continue;
    add_share(mean, run.step(iteration), static_cast<double>(found->second) / cycle);
    alike.erase(found);
  }
  return mean;
}

}  // namespace

StepTimes StepSimulator::run_freely(const StepTimeline& timeline, const TrainingStrategy& strategy,
                                    double network_factor, End end, std::vector<Span>* spans) {
  Network& used = network(network_factor);
  used.reset();
  const RankWalk::Request request{.profile = *profile_,
                                  .timeline = timeline,
                                  .strategy = strategy,
                                  .world = world_,
                                  .network_factor = network_factor,
                                  .end = end,
                                  .spans = spans};
  return FreeRun(request, used, drawn_lateness(profile_->straggler, world_.workers), stop_).run();
}

Seconds StepSimulator::shift_time(int distance, std::int64_t elements) {
  const RunSchedule all{
      .world = world_,
      .collective = CollectiveKind::all_gather,
      .rounds = 1,
      .runs = {{.first = {.dst = distance}, .count = world_.workers - distance, .src_step = 1, .dst_step = 1}},
      .offsets = {}};
  network_.reset();
  const Seconds moving = simulate(network_, SimulationPlan(network_.layout(), all), {}, elements, stop_);
  return profile_->call_latency.value > 0 ? profile_->call_latency + kKernelBase + moving : moving;
}

StepTimes StepSimulator::run_divided(const StepTimeline& timeline, const TrainingStrategy& strategy,
                                     double network_factor, End end, std::vector<Span>* spans) {
  const auto elements = [](double bytes) { return static_cast<std::int64_t>(std::ceil(bytes / kElementSize)); };
  const auto collective = [&](CollectiveKind kind, const RankGroups& groups, double bytes) {
    const Task task{.kind = TaskKind::collective, .collective = kind, .groups = groups};
    return exchange(strategy, task, elements(bytes)).time * network_factor;
  };
  const HostCosts host(*profile_, strategy, world_.workers, network_factor, end);
  return simulate(
      {.timeline = timeline,
       .strategy = strategy,
       .workers = world_.workers,
       .late = 1 + profile_->straggler * lateness_,
       .per_step = Seconds(host.per_step()),
       .collective = collective,
       .shift = [&](int distance, double bytes) { return shift_time(distance, elements(bytes)) * network_factor; }},
      spans);
}

StepTimes StepSimulator::run(const StepTimeline& timeline, const TrainingStrategy& strategy, double network_factor,
                             End end, std::vector<Span>* spans) {
  // One rank has nobody to wait for, not even for the next cycle of a fusion policy.
  if (world_.ranks() == 1) {
    if (spans != nullptr) {
      *spans = {{.kind = SpanKind::step, .end = timeline.step()},
                {.kind = SpanKind::forward, .end = timeline.forward},
                {.kind = SpanKind::backward, .begin = timeline.forward, .end = timeline.passes()}};
      if (timeline.update.value > 0)
        spans->push_back({.kind = SpanKind::optimizer, .begin = timeline.passes(), .end = timeline.step()});
    }
    return {.step = timeline.step(), .compute = timeline.passes(), .update = timeline.update, .alone = timeline.step()};
  }
  if (!strategy.method.division.none()) return run_divided(timeline, strategy, network_factor, end, spans);
  const bool on_servers = strategy.preset != nullptr && strategy.preset->servers_update;
  const StepTimeline passes = on_servers ? timeline.merged() : timeline;
  if (!strategy.method.in_lockstep()) return run_freely(passes, strategy, network_factor, end, spans);
  StepRun run(*this, passes, strategy, network_factor, end, spans);
  // A policy learns in a step in which all tasks are done.
  if (strategy.fusion.fusion->learns) run.step(run.plan().start() + run.plan().cycle() - 1);
  return mean_step(run);
}

}  // namespace hbench
