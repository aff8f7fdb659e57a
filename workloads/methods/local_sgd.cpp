#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "collectives/base/error.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// The values of the example in PyTorch's documentation (torch.distributed.optim.PostLocalSGDOptimizer).
constexpr NumberField kPostLocalFields[] = {{.name = "period", .standard = 4}, {.name = "start", .standard = 100}};

StepPlan post_local_plan(const PlanRequest& request) {
  const int period = request.whole(0), start = request.whole(1);
  return {
      {{.kind = TaskKind::forward},
       {.kind = TaskKind::backward, .after = {{0}}},
       {.kind = TaskKind::collective, .until = start, .after = {{1, request.overlap}}},
       {.kind = TaskKind::apply, .after = {{1}, {2}}},
       {.kind = TaskKind::collective, .carried = Carried::parameters, .every = period, .from = start, .after = {{3}}}}};
}

/// OpenDiLoCo's values (Jaghouar et al., arXiv:2407.07852, 2024), with H of the first paper; those of fragments are in
/// the order of torchft's `DiLoCo` (sync_every, model_fragments, fragment_sync_delay, fragment_update_alpha).
constexpr NumberField kDilocoFields[] = {
    {.name = "period", .standard = 500},
    {.name = "fragments"},
    {.name = "delay", .standard = 0, .smallest = 0},
    {.name = "own share", .standard = 0, .smallest = 0, .largest = 1, .whole = false},
    {.name = "outer rate", .standard = 0.7, .smallest = 0.001, .largest = 10, .whole = false},
    {.name = "outer momentum", .standard = 0.9, .smallest = 0, .largest = 0.9999, .whole = false}};

enum Place : std::uint8_t { kPeriod, kFragments, kDelay, kOwnShare, kOuterRate, kOuterMomentum };

std::string refuses(const std::vector<double>& values) {
  const auto period = static_cast<int>(values[kPeriod]), fragments = static_cast<int>(values[kFragments]);
  if (fragments > period)
    return fmt::format("one fragment is exchanged at a time, and {} are more than the {} iterations of a period",
                       fragments, period);
  const int turn = period / fragments;
  if (values[kDelay] < turn) return {};
  return fmt::format("the next fragment's turn begins after {} iterations, and a delay of {} has not ended then", turn,
                     values[kDelay]);
}

/// Cuts the model into runs of whole tensors of about the same size, in the order of the forward pass, which is the
/// other way round than that of the layout.
std::vector<std::vector<int>> fragments_of(const std::vector<std::int64_t>& elements, int count) {
  std::vector<std::vector<int>> fragments(static_cast<std::size_t>(count));
  if (elements.empty()) return fragments;
  const auto tensors = static_cast<int>(elements.size());
  if (tensors < count)
    throw Error(ExitCode::usage, fmt::format("diloco has {} fragments, and the model {} tensors", count, tensors),
                "take fewer fragments");
  const double whole = static_cast<double>(std::accumulate(elements.begin(), elements.end(), std::int64_t{0})) / count;
  int tensor = tensors - 1;
  double taken = 0;
  for (int fragment = 0; fragment < count; ++fragment) {
    std::vector<int>& mine = fragments[static_cast<std::size_t>(fragment)];
    const double end = whole * (fragment + 1);
    for (const int left = count - fragment - 1; tensor >= left; --tensor) {
      const auto next = static_cast<double>(elements[static_cast<std::size_t>(tensor)]);
      const bool nearer_without = std::abs(taken + next - end) > std::abs(taken - end);
      if (left > 0 && !mine.empty() && nearer_without) break;
      mine.insert(mine.begin(), tensor);
      taken += next;
    }
  }
  return fragments;
}

OuterUpdate outer_of(const PlanRequest& request) {
  OptimizerChoice nesterov = parse_optimizer("nesterov");
  nesterov.values = {request.values[kOuterMomentum]};
  return {.optimizer = std::move(nesterov), .rate = request.values[kOuterRate], .own_share = request.values[kOwnShare]};
}

/// What is exchanged, and when.
struct Turn {
  int unit = Task::kWhole;
  int before_last = 0;  ///< of the period: as `Task::before_last`
  int delay = 0;
};

/// The tasks of a turn: deltas after the update, and once their mean is there the outer update.
void add_turn(StepPlan& plan, const Turn& turn, int period, int update) {
  const int first = plan.size(), begins = turn.before_last + turn.delay;
  plan.tasks.push_back(
      {.kind = TaskKind::delta, .unit = turn.unit, .every = period, .before_last = begins, .after = {{update}}});
  plan.tasks.push_back({.kind = TaskKind::collective,
                        .carried = Carried::deltas,
                        .unit = turn.unit,
                        .every = period,
                        .before_last = begins,
                        .lag = turn.delay,
                        .after = {{first}}});
  plan.tasks.push_back({.kind = TaskKind::outer,
                        .unit = turn.unit,
                        .every = period,
                        .before_last = turn.before_last,
                        .after = {{first + 1}}});
}

StepPlan diloco_plan(const PlanRequest& request) {
  const int period = request.whole(kPeriod), fragments = request.whole(kFragments), delay = request.whole(kDelay);
  StepPlan plan{.tasks = {{.kind = TaskKind::forward},
                          {.kind = TaskKind::backward, .after = {{0}}},
                          {.kind = TaskKind::apply, .after = {{1}}}},
                .outer = outer_of(request)};
  if (fragments == 1 && delay == 0) {
    add_turn(plan, {}, period, 2);
    return plan;
  }
  plan.units = fragments_of(request.model.elements, fragments);
  for (int each = 0; each < fragments; ++each) {
    const auto end = static_cast<int>((std::int64_t{each} + 1) * period / fragments);
    add_turn(plan, {.unit = each, .before_last = period - end, .delay = delay}, period, 2);
  }
  return plan;
}

constexpr NumberField kLocalFields[] = {{.name = "period", .standard = 8}};

StepPlan local_plan(const PlanRequest& request) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::apply, .after = {{1}}},
           {.kind = TaskKind::collective, .carried = Carried::parameters, .every = request.whole(0), .after = {{2}}}}};
}

}  // namespace

/// As in the paper and unlike PyTorch's hook, which goes on to sum gradients within each node, ranks train alone.
extern constinit const Method kPostLocalSgd{
    .name = "post-local-sgd",
    .summary = "as synchronous until an iteration of the job, and as local-sgd from there",
    .citation = "Lin et al., Don't Use Large Mini-Batches, Use Local SGD, ICLR 2020, arXiv:1808.07217",
    .fields = kPostLocalFields,
    .plan = post_local_plan};

extern constinit const Method kDiloco{
    .name = "diloco",
    .summary = "ranks train alone; after each period the mean of their changes is a gradient to an outer Nesterov SGD",
    .citation =
        "Douillard et al., DiLoCo: Distributed Low-Communication Training of Language Models, "
        "arXiv:2311.08105; fragments: Streaming DiLoCo with overlapping communication, arXiv:2501.18512",
    .fields = kDilocoFields,
    .refuses = refuses,
    .plan = diloco_plan};

extern constinit const Method kLocalSgd{
    .name = "local-sgd",
    .summary = "ranks train alone and average their parameters after each period",
    .citation = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019",
    .fields = kLocalFields,
    .plan = local_plan};

}  // namespace hbench
