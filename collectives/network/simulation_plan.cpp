#include "collectives/network/simulation_plan.hpp"

#include <numeric>

namespace hbench {
namespace {

/// Runs of plans that are kept for later (200 MB).
constexpr std::size_t kMostKept = std::size_t{1} << 22;

/// Shorter runs are not worth the preparation.
constexpr int kShortRun = 16;

bool in_whole_parts(const TransferRun& run, int width) {
  return run.first.first_chunk % width == 0 && run.first.chunk_count % width == 0 && run.chunk_step % width == 0;
}

/// The part that all transfers of the run lie in, if there is one.
std::optional<int> only_part(const TransferRun& run, int width) {
  const int part = run.first.first_chunk / width;
  for (const Transfer& end : {run.first, run.at(run.count - 1)})
    if (end.first_chunk / width != part || (end.first_chunk + end.chunk_count - 1) / width != part) return {};
  return part;
}

/// Each rank's own part; nothing where some rank gets or sends less than whole parts of two.
std::optional<std::vector<int>> own_parts(const RunSchedule& schedule, int width) {
  std::vector<int> own(static_cast<std::size_t>(schedule.world.ranks()), -1);
  const auto claim = [&](Rank rank, int part) {
    if (own[rank] < 0) own[rank] = part;
    return own[rank] == part;
  };
  for (const TransferRun& run : schedule.runs) {
    if (in_whole_parts(run, width)) continue;
    const std::optional<int> part = only_part(run, width);
    if (!part) return {};
    for (int index = 0; index < run.count; ++index) {
      const Transfer transfer = run.at(index);
      if (!claim(transfer.src, *part) || !claim(transfer.dst, *part)) return {};
    }
  }
  std::ranges::replace(own, -1, 0);
  return own;
}

/// Whether every chunk of a run is sent by the rank that got it last, one by one.
bool carries(const RunSchedule& schedule, int width) {
  struct Carrier {
    Rank rank = -1;
    int round = -1;
  };
  std::vector<Carrier> carriers(static_cast<std::size_t>(schedule.chunks));
  for (const TransferRun& run : schedule.runs) {
    if (in_whole_parts(run, width)) continue;
    if (run.first.chunk_count > 1) return false;
    for (int index = 0; index < run.count; ++index) {
      const Transfer transfer = run.at(index);
      Carrier& carrier = carriers[transfer.first_chunk];
      if (carrier.round == transfer.round || (carrier.rank >= 0 && carrier.rank != transfer.src)) return false;
      carrier = {transfer.dst, transfer.round};
    }
  }
  return true;
}

Kept kept(const RunSchedule& schedule, int width) {
  const auto& runs = schedule.runs;
  const auto apart = [&](const TransferRun& run) { return !in_whole_parts(run, width); };
  if (std::ranges::none_of(runs, apart)) return Kept::parts;
  if (std::ranges::any_of(runs, [&](const TransferRun& run) { return apart(run) && run.first.chunk_count > 1; }))
    return Kept::runs;
  return carries(schedule, width) ? Kept::carried : Kept::chunks;
}

/// Transfers that are so far apart in a run lie as far apart in their nodes as the first ones.
int period_of(const TransferRun& run, int gpus_per_node) {
  return gpus_per_node / std::gcd(gpus_per_node, run.src_step);
}

/// Whether transfers `first`, `first + period` ... are between like GPUs of successive nodes.
bool in_lockstep(const RankLayout& layout, const TransferRun& run, int first, int period) {
  const Transfer before = run.at(first);
  for (int index = first; index < run.count; index += period) {
    const Transfer transfer = run.at(index);
    const int further = (index - first) / period;
    if (layout.lane[transfer.src] != layout.lane[before.src] + further ||
        layout.lane[transfer.dst] != layout.lane[before.dst] + further ||
        layout.node[transfer.src] != layout.node[before.src] + further ||
        layout.node[transfer.dst] != layout.node[before.dst] + further)
      return false;
  }
  return true;
}

/// `PlannedRun::groups`.
int groups_of(const RankLayout& layout, const RunSchedule& schedule, const TransferRun& run) {
  // Servers are queues of their own, and parts of a placement have sizes of their own.
  if (run.count < kShortRun || run.first.chunk_count != 1 || run.src_step == 0 || run.src_step != run.dst_step ||
      schedule.world.servers > 0 || !schedule.offsets.empty())
    return 0;
  int gpus_per_node = 1;
  while (gpus_per_node < schedule.world.workers && layout.node[gpus_per_node] == 0) ++gpus_per_node;
  const int period = period_of(run, gpus_per_node);
  int crossings = 0;
  for (int first = 0; first < std::min(period, run.count); ++first) {
    if (!in_lockstep(layout, run, first, period)) return 0;
    const Transfer transfer = run.at(first);
    crossings += layout.node[transfer.src] != layout.node[transfer.dst] ? 1 : 0;
  }
  // Two GPUs of a node that send out of it share its NICs, in the order of the run.
  return crossings <= 1 ? period : 0;
}

}  // namespace

SimulationPlan::SimulationPlan(const RankLayout& layout, const RunSchedule& schedule, PlanDetail detail)
    : world_(schedule.world),
      cut_{.world = schedule.world,
           .collective = schedule.collective,
           .chunks = schedule.chunks,
           .offsets = schedule.offsets} {
  const bool full = detail == PlanDetail::full;
  chunks_.parts = full ? 1 : schedule.parts;
  auto own = own_parts(schedule, schedule.chunks / chunks_.parts);
  if (!own) {
    chunks_.parts = 1;
    own = own_parts(schedule, schedule.chunks);
  }
  chunks_.width = schedule.chunks / chunks_.parts;
  chunks_.kept = full ? Kept::chunks : kept(schedule, chunks_.width);
  for (Rank rank = 0; rank < world_.ranks(); ++rank) {
    const auto lane = static_cast<std::size_t>(layout.lane[rank]);
    const auto part = static_cast<std::size_t>((*own)[rank]);
    const auto width = static_cast<std::size_t>(chunks_.width);
    chunks_.own_part.push_back(part * static_cast<std::size_t>(layout.lanes) + lane);
    chunks_.own_begin.push_back((*own)[rank] * chunks_.width);
    chunks_.chunk_0.push_back((static_cast<std::size_t>(rank) - part) * width);
  }
  runs_.reserve(schedule.runs.size());
  for (const TransferRun& run : schedule.runs) runs_.push_back(planned(layout, schedule, run));
}

PlannedRun SimulationPlan::planned(const RankLayout& layout, const RunSchedule& schedule, const TransferRun& run) {
  if (in_whole_parts(run, chunks_.width)) return {.run = run, .whole = true};
  const int groups = chunks_.kept == Kept::carried ? groups_of(layout, schedule, run) : 0;
  const int stride = groups * run.chunk_step;
  // The first run that can be taken in groups says how chunks are kept.
  if (chunks_.stride == 0 && stride > 0) chunks_.stride = stride;
  return {.run = run, .groups = stride > 0 && stride == chunks_.stride ? groups : 0};
}

std::vector<std::int64_t> SimulationPlan::chunk_begin(std::int64_t elements) const {
  std::vector<std::int64_t> begin(static_cast<std::size_t>(cut_.chunks) + 1);
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) begin[chunk + 1] = cut_.range(chunk, 1, elements).end;
  return begin;
}

Moved SimulationPlan::moved(const RankLayout& layout, std::int64_t elements) const {
  const std::vector<std::int64_t> begin = chunk_begin(elements);
  std::int64_t within = 0, between = 0;
  for (const PlannedRun& planned : runs_)
    for (int i = 0; i < planned.run.count; ++i) {
      const Transfer transfer = planned.run.at(i);
      const std::int64_t sent = begin[transfer.first_chunk + transfer.chunk_count] - begin[transfer.first_chunk];
      (layout.node[transfer.src] == layout.node[transfer.dst] ? within : between) += sent;
    }
  return {static_cast<double>(within), static_cast<double>(between)};
}

const SimulationPlan& SimulationPlans::of(const AlgorithmChoice& algorithm, int segments) {
  const Key key{algorithm.algorithm, algorithm.parameters, segments};
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  if (kept_ > kMostKept) {
    made_.clear();
    kept_ = 0;
  }
  const auto runs_among = [&](int ranks) { return algorithm.runs({.workers = ranks}, segments); };
  const RunSchedule schedule = groups_.all()
                                   ? algorithm.runs(world_, segments)
                                   : in_groups(runs_among(groups_.size_among(world_.workers)), world_.workers, groups_);
  const SimulationPlan& made = made_.emplace(key, SimulationPlan(layout_, schedule)).first->second;
  kept_ += made.runs().size();
  return made;
}

std::int64_t bytes_of_plan(const Algorithm& algorithm, const Shape& shape) {
  constexpr auto kRun = static_cast<std::int64_t>(sizeof(TransferRun));
  constexpr auto kPlannedRun = static_cast<std::int64_t>(sizeof(PlannedRun));
  constexpr auto kTransfer = static_cast<std::int64_t>(sizeof(Transfer));
  if (algorithm.build_runs != nullptr) return (kRun + kPlannedRun) * shape.most_runs();
  return std::max(2 * kTransfer, kRun + kPlannedRun) * shape.transfers;
}

std::int64_t bytes_of_times(const World& world, const Shape& shape) {
  const std::int64_t width = shape.chunks / shape.parts;
  const std::int64_t ranks = world.ranks();
  std::int64_t times = ranks * width;
  if (shape.ranges) times = 2 * ranks * std::min<std::int64_t>(width, 2 * shape.rounds + 1);
  if (shape.carried) times = shape.chunks;
  return static_cast<std::int64_t>(sizeof(double)) * (times + ranks * (shape.parts + 1));
}

}  // namespace hbench
