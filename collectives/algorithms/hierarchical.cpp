#include <fmt/format.h>

#include <algorithm>

#include "collectives/algorithms/compose.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"

namespace hbench {
namespace {

std::string refuses(const World& world) {
  if (std::string why = refuse_servers(world); !why.empty()) return why;
  if (world.group < 1) return "a node has at least 1 worker";
  if (world.workers % world.group != 0)
    return fmt::format("it needs full nodes: {} workers on nodes of {} leave one node with {}", world.workers,
                       world.group, world.workers % world.group);
  return {};
}

void check_parameters(std::string_view parameters) {
  const auto names = split(parameters, ':');
  const AlgorithmChoice inner = parse_algorithm(names[0]);
  if (inner.algorithm->reduce_scatter == nullptr)
    throw Error(
        ExitCode::usage,
        fmt::format("hierarchical:{}: '{}' is not made of a reduce-scatter and an all-gather", parameters, names[0]),
        "choose direct, ring, ring-segmented or halving-doubling for the inside of nodes");
  const Algorithm& outer = *parse_algorithm(names[1]).algorithm;
  if (outer.is_vendor() || outer.uses_servers || outer.uses_groups)
    throw Error(ExitCode::usage, fmt::format("hierarchical:{}: '{}' cannot run between nodes", parameters, names[1]),
                "choose an all-reduce of workers only, such as ring or halving-doubling");
}

TwoLevel levels(const ScheduleRequest& request) {
  const auto names = split(request.parameters, ':');
  const World& world = request.world;
  return {.grid = {.groups = world.workers / world.group,
                   .members = world.group,
                   .group_step = world.group,
                   .member_step = 1},
          .inner = parse_algorithm(names[0]).algorithm,
          .outer = parse_algorithm(names[1]).algorithm,
          .segments = request.segments};
}

RunSchedule build_runs(const ScheduleRequest& request) {
  const TwoLevel both = levels(request);
  const Shape whole = both.shape();
  RunSchedule schedule{.world = request.world, .chunks = whole.chunks, .parts = whole.parts};
  both.embed_in(schedule, 0);
  order_by_round(schedule);
  return schedule;
}

Schedule build(const ScheduleRequest& request) { return to_transfers(build_runs(request)); }

/// Either level may be: otherwise a schedule in segments is the same schedule.
bool pipelined(std::string_view parameters) {
  const auto names = split(parameters, ':');
  return std::ranges::any_of(
      names, [](std::string_view name) { return parse_algorithm(name).algorithm->segments != nullptr; });
}

Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return levels(request).traffic(cut, rank / request.world.group, rank % request.world.group);
}

}  // namespace

extern constinit const Algorithm kHierarchical{
    .name = "hierarchical",
    .summary = "reduce-scatter inside each node, all-reduces of the parts between nodes, all-gather inside",
    .citation =
        "Cho, Finkler, Serrano, Kung and Hunter, BlueConnect: Decomposing All-Reduce for Deep Learning on "
        "Heterogeneous Network Hierarchy, MLSys 2019",
    .fields = "inner:outer",
    .defaults = "direct:ring",
    .uses_groups = true,
    .refuses = refuses,
    .build = build,
    .shape = [](const ScheduleRequest& request) { return levels(request).shape(); },
    .traffic = traffic,
    // Of the segmented ring, which each level may be: every rank's part of everything.
    .segments = [](const World& world,
                   std::int64_t bytes) { return segments_of(bytes / world.workers, 256 * 1024, 4, 16); },
    .check_parameters = check_parameters,
    .build_runs = build_runs,
    .pipelined = pipelined,
};

}  // namespace hbench
