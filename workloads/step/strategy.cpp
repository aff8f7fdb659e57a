#include "workloads/step/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/table.hpp"
#include "collectives/exchange/exchange.hpp"

namespace hbench {

void TrainingStrategy::set_servers(int count, int workers) { servers = colocated() ? std::min(count, workers) : count; }

World TrainingStrategy::world(int workers, int gpus_per_node) const {
  World world{workers, servers, colocated()};
  if (placement != nullptr && placement->groups_nodes && method.in_lockstep()) world.group = gpus_per_node;
  if (algorithm.uses_groups()) world.group = std::min(gpus_per_node, workers);
  return world;
}

TrainingStrategy strategy_of(const Preset& preset, int nodes) {
  TrainingStrategy strategy;
  strategy.algorithm = parse_algorithm_rule(preset.algorithm);
  strategy.fusion = parse_fusion(preset.fusion);
  strategy.preset = &preset;
  if (preset.placement.empty()) return strategy;
  strategy.placement = &find_entry(placements(), preset.placement, "placement");
  strategy.servers = nodes;
  strategy.server_mode = ServerMode::colocated;
  return strategy;
}

const Preset& usual_preset(const TrainingStrategy& strategy) {
  const bool servers = strategy.algorithm.uses_servers();
  const auto first = [servers](std::string_view Preset::*field, std::string_view wanted) {
    const auto found = std::ranges::find_if(
        presets(), [&](const Preset* each) { return each->placement.empty() != servers && each->*field == wanted; });
    return found == presets().end() ? nullptr : *found;
  };
  const Preset* usual = first(&Preset::name, strategy.fusion.fusion->name);
  if (usual == nullptr && servers) usual = first(&Preset::placement, strategy.placement->name);
  return usual != nullptr ? *usual : find_entry(presets(), servers ? "tf-ps" : "ddp", "preset");
}

CompressorChoice compressor_of(const TrainingStrategy& strategy, const Task& task) {
  static const CompressorChoice verbatim = parse_compressor("none");
  return task.coded() ? strategy.compressor : verbatim;
}

AlgorithmChoice algorithm_of(const TrainingStrategy& strategy, const Task& task, std::int64_t bytes) {
  return part_of(strategy.algorithm.at(bytes), task.collective).value();
}

namespace {

/// `a reduce-scatter`, `an all-gather`.
std::string with_article(CollectiveKind collective) {
  const std::string_view name = to_string(collective);
  return fmt::format("{} {}", name.starts_with('a') ? "an" : "a", name);
}

/// Why pushes of single ranks to servers cannot be coded so.
std::string refuse_pushes(const CompressorChoice& compressor, const std::string& method) {
  const std::string name = compressor.text();
  if (compressor.both_sides)
    return fmt::format("{} codes sums as well, and servers of {} return parameters; take ef:{}", name, method,
                       name.substr(name.find(':') + 1));
  if (compressor.compressor->bytes_vary)
    return fmt::format("{} sends as many bytes as the values need, which servers of {} cannot know; take topk", name,
                       method);
  if (compressor.compressor->exchange == Exchange::low_rank)
    return fmt::format("{} compresses an all-reduce as a whole, and {} has none", name, method);
  return {};
}

/// Why a rank cannot exchange with servers, or with some other ranks, so.
std::string refuse_exchange_of_ranks(const TrainingStrategy& strategy, const Task& task) {
  const std::string method = strategy.method.text();
  for (const AlgorithmChoice& choice : strategy.algorithm.choices()) {
    const bool servers = choice.algorithm->uses_servers;
    if (task.among == Among::servers && !servers)
      return fmt::format("{} exchanges with parameter servers, and {} has none; take ps", method,
                         choice.algorithm->name);
    if (task.among != Among::servers && choice.algorithm->name != "ring")
      return fmt::format("{} exchanges with single ranks of a circle, and not by {}; take ring", method,
                         choice.algorithm->name);
  }
  if (task.among == Among::servers) return refuse_pushes(strategy.compressor, method);
  if (!strategy.compressor.verbatim())
    return fmt::format("{} averages parameters, and {} compresses gradients", method, strategy.compressor.text());
  return {};
}

/// Why an algorithm cannot run within groups of ranks.
std::string refuse_in_groups(const std::string& method, const AlgorithmChoice& choice, const RankGroups& groups,
                             const World& world) {
  const Algorithm& algorithm = *choice.algorithm;
  if (algorithm.is_vendor())
    return fmt::format("{} has collectives within groups of ranks, and vendor has those among all alone; take ring",
                       method);
  if (algorithm.uses_groups)
    return fmt::format("{} has collectives within groups of ranks, and {} goes by nodes; take ring", method,
                       algorithm.name);
  return algorithm.refuses({.workers = groups.size_among(world.workers)});
}

/// Why a divided model cannot exchange what it does by the strategy.
std::string refuse_divided(const TrainingStrategy& strategy, const World& world) {
  const ModelDivision& division = strategy.method.division;
  const std::string method = strategy.method.text();
  if (!strategy.compressor.verbatim())
    return fmt::format("{} exchanges more than gradients, and {} compresses these; take none", method,
                       strategy.compressor.text());
  if (world.workers % division.ranks() != 0)
    return fmt::format("{} has {} GPUs in a replica, and {} are no multiple of that", method, division.ranks(),
                       world.workers);
  for (const AlgorithmChoice& choice : strategy.algorithm.choices())
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      const std::optional<AlgorithmChoice> part = part_of(choice, kind);
      if (!part || choice.algorithm->uses_servers)
        return fmt::format(
            "{} needs all-reduces, all-gathers and reduce-scatters within groups of ranks, and {} has "
            "not all of them; take ring",
            method, choice.algorithm->name);
      for (const RankGroups& groups : {division.tensor_groups(), division.replicas(world.workers)})
        if (std::string why = refuse_in_groups(method, *part, groups, world); !why.empty()) return why;
    }
  return {};
}

/// Why momenta cannot travel in place of gradients.
std::string refuse_momenta(const TrainingStrategy& strategy) {
  const std::string method = strategy.method.text();
  const std::string_view own = strategy.method.method->compressor;
  if (!strategy.compressor.verbatim() && strategy.compressor.text() != own)
    return fmt::format("{} codes what it exchanges by {}, and by nothing else; leave out --compressor {}", method, own,
                       strategy.compressor.text());
  const OptimizerChoice optimizer = strategy.trained_with();
  if (optimizer.optimizer->momentum == nullptr)
    return fmt::format("{} exchanges the momentum of Adam{}; give --optimizer adam", method,
                       strategy.optimizer ? fmt::format(", and not of {}", optimizer.text()) : "");
  if (strategy.precision == Precision::fp16)
    return fmt::format(
        "fp16 leaves out steps whose gradients are not finite, and momenta of {} have them already; take bf16", method);
  return {};
}

/// Why the collectives of a method cannot be those of the strategy.
std::string refuse_method(const TrainingStrategy& strategy, const World& world) {
  if (!strategy.method.division.none()) return refuse_divided(strategy, world);
  const std::string method = strategy.method.text();
  const StepPlan plan = strategy.method.plan(strategy.overlap);
  if (strategy.compressor.verbatim() && codes_later(plan))
    return fmt::format(
        "{} codes gradients from an iteration on, and no compressor is named; give --compressor powersgd", method);
  if (carries_momenta(plan))
    if (std::string why = refuse_momenta(strategy); !why.empty()) return why;
  if (const int least = least_ranks(plan); world.workers % least != 0)
    return fmt::format("{} shares out the model among groups of {}, and {} GPUs are no multiple of that", method, least,
                       world.workers);
  for (const Task& task : plan.tasks) {
    if (task.computes()) continue;
    if (task.among != Among::all) return refuse_exchange_of_ranks(strategy, task);
    if (!task.adds_up() && task.collective == CollectiveKind::all_reduce && !strategy.compressor.verbatim())
      return fmt::format("{} averages {}, and {} compresses gradients", method, to_string(task.carried),
                         strategy.compressor.text());
    if (task.collective == CollectiveKind::all_reduce && task.groups.all()) continue;
    if (strategy.compressor.compressor->exchange != Exchange::per_hop)
      return fmt::format("{} compresses an all-reduce as a whole, and {} has {}", strategy.compressor.text(), method,
                         with_article(task.collective));
    for (const AlgorithmChoice& choice : strategy.algorithm.choices()) {
      const std::optional<AlgorithmChoice> part = part_of(choice, task.collective);
      if (!part)
        return fmt::format("{} needs {}, and there is none called {}; take ring", method, with_article(task.collective),
                           choice.algorithm->name);
      std::string why =
          task.groups.all() ? part->algorithm->refuses(world) : refuse_in_groups(method, *part, task.groups, world);
      if (!why.empty()) return why;
    }
  }
  return {};
}

}  // namespace

std::string refuse_strategy(const TrainingStrategy& strategy, const World& world) {
  const CompressorChoice& compressor = strategy.compressor;
  const bool pushes = exchanges_among(strategy.method.plan(strategy.overlap), Among::servers);
  for (const AlgorithmChoice& choice : strategy.algorithm.choices()) {
    // What codes pushes of single ranks is no part of a collective (`refuse_pushes`); nor is what frameworks cast
    // before they call a library.
    const bool apart = pushes || (choice.algorithm->is_vendor() && compressor.at_most_casts());
    std::string why =
        refuse_exchange(choice, apart ? parse_compressor("none") : compressor, DataType::float32, ReduceOp::sum, world);
    if (!why.empty()) return why;
  }
  if (std::string why = refuse_method(strategy, world); !why.empty()) return why;
  if (strategy.precision == Precision::bf16_true && !compressor.verbatim())
    return fmt::format("{} codes float32, and gradients of bf16-true are 16 bits already", compressor.text());
  if (compressor.needs_fixed_buckets() && strategy.fusion.fusion->varies)
    return fmt::format(
        "{} carries {} from step to step for each bucket, and the buckets of {} differ from step to step; take "
        "ddp, mg-wfbp, byteps or none",
        compressor.text(), compressor.both_sides ? "what sums of parts have lost" : "factors",
        strategy.fusion.fusion->name);
  if (strategy.precision == Precision::fp16 &&
      (compressor.error_feedback || compressor.compressor->make_memory != nullptr))
    return fmt::format("{} carries gradients over to the next step, where fp16 may scale the loss otherwise; take bf16",
                       compressor.text());
  return {};
}

std::string refuse_fragments(const MethodChoice& method, std::size_t tensors) {
  const StepPlan plan = method.plan(true);
  if (passes_by_unit(plan) || plan.units.size() <= tensors) return {};
  return fmt::format("{} has {} fragments, and the model {} tensors; take fewer", method.text(), plan.units.size(),
                     tensors);
}

std::string refuse_groups(const MethodChoice& method, int gpus_per_node) {
  const int group = sharded(method.plan(true)).groups.size;
  if (group == 0 || gpus_per_node % group == 0 || group % gpus_per_node == 0) return {};
  return fmt::format("{} needs groups that divide a node of {} GPUs, or are whole nodes", method.text(), gpus_per_node);
}

namespace {

/// Why the engine has no servers that apply gradients as they come.
std::string refuse_async_servers(const TrainingStrategy& strategy) {
  const std::string method = strategy.method.text();
  if (strategy.precision == Precision::fp16)
    return fmt::format("fp16 leaves out steps whose gradients are not finite, and servers of {} do not; take bf16",
                       method);
  return {};
}

/// Why the engine cannot let each rank walk the plan for itself.
std::string refuse_free_engine(const TrainingStrategy& strategy, const StepPlan& plan) {
  const std::string method = strategy.method.text();
  if (strategy.executor != nullptr && strategy.executor->rounds_only)
    return fmt::format("ranks of {} send messages to one other rank, which {} has no way for; take the executor cuda",
                       method, strategy.executor->name);
  const bool whole_tensors = !exchanges_among(plan, Among::neighbours);
  if (whole_tensors && strategy.fusion.fusion->name == "byteps")
    return fmt::format(
        "ranks of {} exchange whole tensors, or their parts on servers, and byteps cuts them otherwise; "
        "take none",
        method);
  return exchanges_among(plan, Among::servers) ? refuse_async_servers(strategy) : "";
}

/// Why ranks cannot run a plan's collectives within groups: `prepare_exchange` has sums alone there, of schedules.
std::string refuse_groups_of_engine(const TrainingStrategy& strategy, const StepPlan& plan) {
  const auto in_groups = [](const Task& task) { return !task.computes() && !task.groups.all(); };
  const auto is_mean = [](const Task& task) { return !task.adds_up() && reduces(task.collective); };
  for (const Task& task : plan.tasks) {
    if (!in_groups(task)) continue;
    if (is_mean(task))
      return fmt::format(
          "{} averages {} within groups of ranks, and hbench's engine among all ranks alone: it is simulated only",
          strategy.method.text(), to_string(task.carried));
  }
  return {};
}

}  // namespace

std::string refuse_checkpoints(const TrainingStrategy& strategy, const World& world) {
  const StepPlan plan = strategy.method.plan(strategy.overlap);
  const auto lags = [](const Task& task) { return task.lag > 0; };
  if (!in_lockstep(plan) || std::ranges::any_of(plan.tasks, lags))
    return fmt::format("{} has no checkpoints: its ranks are not all after the same step at a time",
                       strategy.method.text());
  if (world.ranks() > world.workers) return "ranks that only serve have no checkpoints: let servers be workers too";
  return "";
}

std::string refuse_engine(const TrainingStrategy& strategy, bool replays) {
  if (!strategy.method.division.none())
    return fmt::format("{} divides the model among ranks, which hbench's engine does not: it is simulated only",
                       strategy.method.text());
  if (strategy.algorithm.is_vendor() && !strategy.compressor.verbatim())
    return fmt::format("vendor sends elements as they are: with {} it is simulated only", strategy.compressor.text());
  const StepPlan plan = strategy.method.plan(strategy.overlap);
  if (!in_lockstep(plan))
    if (std::string why = refuse_free_engine(strategy, plan); !why.empty()) return why;
  if (strategy.method.goes_by_units() && !replays)
    return fmt::format(
        "{} gathers parameters before each block of layers, where LibTorch's modules have no hooks: it "
        "is emulated and simulated only",
        strategy.method.text());
  const bool shards = sharded(plan).optimizer;
  if (!replays && strategy.precision == Precision::fp16 && shards)
    return fmt::format("fp16 leaves out steps whose gradients are not finite, and in {} no rank sees all; take bf16",
                       strategy.method.text());
  if (std::string why = refuse_groups_of_engine(strategy, plan); !why.empty()) return why;
  const bool keeps_own = !replays && shards && strategy.trained_with().state() > 0;
  if (keeps_own && (strategy.fusion.fusion->varies || strategy.fusion.fusion->learns))
    return fmt::format(
        "{} keeps the state of {} on the rank that a bucket's sums are left on, and the buckets of {} change; take "
        "--fusion none or byteps",
        strategy.method.text(), strategy.trained_with().text(), strategy.fusion.fusion->name);
  return {};
}

}  // namespace hbench
