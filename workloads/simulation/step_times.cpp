#include "workloads/simulation/step_times.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/methods/step_plan.hpp"

namespace hbench {
namespace {

/// Bytes of a gradient or a parameter on its way, as all timelines count them.
constexpr double kNumber = 4;
/// Of a block: for its attention and for its feed-forward layers.
constexpr int kExchangesOfBlock = 2;

class Simulation {
 public:
  explicit Simulation(const DividedStep& step)
      : step_(step),
        division_(step.strategy.method.division),
        timeline_(step.timeline),
        blocks_(*step.timeline.blocks),
        replicas_(division_.replicas(step.workers)),
        shards_(sharded(step.strategy.method.plan(step.strategy.overlap)).optimizer) {
    exchanges_ = exchanges();
    if (replicas_.size == 1) return;
    reduction_ = step_.collective(shards_ ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, replicas_,
                                  elements() * kNumber);
    if (shards_) gather_ = step_.collective(CollectiveKind::all_gather, replicas_, elements() * kNumber);
  }

  StepTimes run(std::vector<Span>* spans) {
    const PipelineTimes times = pass_times();
    const std::vector<std::vector<TimedPass>> passes = run_pipeline(division_, times);
    Seconds made(0);
    for (const std::vector<TimedPass>& stage : passes) made = std::max(made, stage.back().end);
    const Seconds reduced = std::max(made, reduced_at(passes.front(), made)), updated = reduced + update();
    const Seconds end = updated + gather_ + step_.per_step;
    if (spans != nullptr) *spans = spans_of(passes.front(), made, reduced, updated, end);
    return times_of(passes, made, end);
  }

 private:
  int parts() const { return division_.stages * division_.chunks; }
  int blocks_of_part() const { return blocks_.count / parts(); }

  /// The share of a pass in a part, on each rank of its tensor group.
  double share(int part) const {
    const double output = part + 1 == parts() ? 1 - blocks_.count * blocks_.share : 0;
    return (blocks_of_part() * blocks_.share + output) / division_.tensor;
  }

  /// Of what a tensor group exchanges in one pass of a part.
  Seconds exchanges() const {
    if (division_.tensor == 1) return Seconds(0);
    const double bytes = timeline_.batch * blocks_.passed_on;
    const Seconds one = step_.collective(CollectiveKind::all_gather, division_.tensor_groups(), bytes) +
                        step_.collective(CollectiveKind::reduce_scatter, division_.tensor_groups(), bytes);
    return one * (kExchangesOfBlock * blocks_of_part());
  }

  PipelineTimes pass_times() {
    const bool repeats = step_.strategy.recomputation == Recomputation::full;
    PipelineTimes times;
    for (int part = 0; part < parts(); ++part) {
      times.forward.push_back(timeline_.forward * (share(part) * step_.late) + exchanges_);
      times.backward.push_back(timeline_.backward * (share(part) * step_.late) + exchanges_ * (repeats ? 2 : 1));
    }
    // A tensor group has each a part of what it passes on.
    const double bytes = timeline_.batch * blocks_.passed_on / division_.tensor;
    times.transfer = division_.stages > 1 ? step_.shift(step_.workers / division_.stages, bytes) : Seconds(0);
    return times;
  }

  /// Gradients of the stage that has the most, on each rank.
  double elements() const {
    const double own = blocks_.elements * blocks_.count / division_.stages;
    return (own + std::max(blocks_.before, blocks_.after)) / division_.tensor;
  }
  double share_of_parameters() const {
    const double all = blocks_.elements * blocks_.count + blocks_.before;
    return std::min(1.0, elements() / all);
  }

  /// When the first stage, which is the last to end, has added up its gradients. Those of a chunk are made block by
  /// block in its last backward pass, each while those before it are on their way.
  Seconds reduced_at(const std::vector<TimedPass>& passes, Seconds made) const {
    if (!step_.strategy.overlap) return made + reduction_;
    const int blocks = blocks_of_part();
    const Seconds reduced = reduction_ / (blocks * division_.chunks);
    Seconds end(0);
    for (const auto& [pass, begin, until] : passes) {
      if (pass.forward || pass.micro_batch + 1 < division_.micro_batches) continue;
      const Seconds block = timeline_.backward * (share(pass.chunk * division_.stages) * step_.late) / blocks;
      for (int later = blocks - 1; later >= 0; --later) end = std::max(end, until - block * later) + reduced;
    }
    return end;
  }

  Seconds update() const { return timeline_.update * share_of_parameters() / (shards_ ? replicas_.size : 1); }

  /// Undisturbed passes of a stage.
  Seconds compute_of(int stage) const {
    Seconds sum(0);
    for (int chunk = 0; chunk < division_.chunks; ++chunk)
      sum += (timeline_.forward + timeline_.backward) * share(chunk * division_.stages + stage);
    return sum * division_.micro_batches;
  }

  static Seconds busy(const std::vector<TimedPass>& passes) {
    return std::accumulate(passes.begin(), passes.end(), Seconds(0),
                           [](Seconds sum, const TimedPass& each) { return sum + (each.end - each.begin); });
  }

  StepTimes times_of(const std::vector<std::vector<TimedPass>>& passes, Seconds made, Seconds end) const {
    int busiest = 0;
    for (int stage = 0; stage < division_.stages; ++stage)
      if (compute_of(stage) > compute_of(busiest)) busiest = stage;
    const Seconds compute = compute_of(busiest), straggler = compute * (step_.late - 1);
    const Seconds computing = busy(passes[static_cast<std::size_t>(busiest)]);
    return {.step = end,
            .compute = compute,
            .straggler = straggler,
            .exposed = end - compute - straggler - update(),
            .update = update(),
            .alone = timeline_.passes() * (static_cast<double>(division_.micro_batches) / division_.ranks()) +
                     timeline_.update / division_.ranks(),
            .communication = computing - compute - straggler + reduction_ + gather_,
            .buckets = replicas_.size == 1 ? 0
                       : shards_           ? 2
                                           : 1,
            .sent = {},
            .idle = made - computing};
  }

  std::vector<Span> spans_of(const std::vector<TimedPass>& passes, Seconds made, Seconds reduced, Seconds updated,
                             Seconds end) const {
    std::vector<Span> spans{{.kind = SpanKind::step, .end = end}};
    Seconds last(0);
    const auto add = [&](SpanKind kind, Seconds begin, Seconds until, Lane lane) {
      if (until > begin) spans.push_back({.lane = lane, .kind = kind, .begin = begin, .end = until});
    };
    for (const auto& [pass, begin, until] : passes) {
      add(SpanKind::wait, last, begin, Lane::compute);
      add(pass.forward ? SpanKind::forward : SpanKind::backward, begin, until, Lane::compute);
      last = until;
    }
    add(SpanKind::wait, last, reduced, Lane::compute);
    add(SpanKind::optimizer, reduced, updated, Lane::compute);
    add(SpanKind::wait, updated, end, Lane::compute);
    add(SpanKind::communication, made, reduced, Lane::communication);
    add(SpanKind::communication, updated, updated + gather_, Lane::communication);
    return spans;
  }

  const DividedStep& step_;
  const ModelDivision& division_;
  const StepTimeline& timeline_;
  const EqualBlocks& blocks_;
  RankGroups replicas_;
  bool shards_;
  Seconds exchanges_;           ///< of one pass of a part
  Seconds reduction_, gather_;  ///< of all gradients and parameters of a stage
};

}  // namespace

Staleness Staleness::of(const std::map<int, std::int64_t>& counts) {
  double all = 0, sum = 0;
  for (const auto& [number, count] : counts) {
    all += static_cast<double>(count);
    sum += number * static_cast<double>(count);
  }
  Staleness staleness{.mean = sum / all, .p95 = 0, .largest = counts.rbegin()->first};
  double passed = 0;
  for (const auto& [number, count] : counts)
    if ((passed += static_cast<double>(count)) >= 0.95 * all) {
      staleness.p95 = number;
      break;
    }
  return staleness;
}

void add_share(StepTimes& sum, const StepTimes& step, double share) {
  for (Seconds StepTimes::*part : {&StepTimes::step, &StepTimes::compute, &StepTimes::straggler, &StepTimes::slowdown,
                                   &StepTimes::exposed, &StepTimes::update, &StepTimes::communication})
    sum.*part = sum.*part + step.*part * share;
  add(sum.sent, step.sent, share);
  sum.alone = step.alone;
  sum.buckets = std::max(sum.buckets, step.buckets);
}

StepTimes simulate(const DividedStep& step, std::vector<Span>* spans) { return Simulation(step).run(spans); }

}  // namespace hbench
