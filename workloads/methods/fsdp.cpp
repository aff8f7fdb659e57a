#include <algorithm>

#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kStageField[] = {{.name = "stage", .standard = 1, .largest = 2}};

/// A rank that keeps its own part of the gradients alone scatters those of each micro-batch, and waits for that before
/// the next, as DeepSpeed does (github.com/deepspeedai/DeepSpeed/issues/2252).
StepPlan plan_fsdp(const PlanRequest& request) {
  const bool keeps_own = request.whole(0) == 2;
  StepPlan plan{.tasks = {}, .micro_batches = keeps_own ? request.model.micro_batches : 1};
  const auto add = [&](Task task) {
    plan.tasks.push_back(std::move(task));
    return plan.size() - 1;
  };
  int last = -1;
  for (int micro_batch = 0; micro_batch < plan.micro_batches; ++micro_batch) {
    const int forward = add({.kind = TaskKind::forward,
                             .micro_batch = micro_batch,
                             .after = last < 0 ? std::vector<After>() : std::vector<After>{{last}}});
    const int backward = add({.kind = TaskKind::backward, .micro_batch = micro_batch, .after = {{forward}}});
    last = add({.kind = TaskKind::collective,
                .collective = CollectiveKind::reduce_scatter,
                .own_part = keeps_own,
                .micro_batch = micro_batch,
                .after = {{backward, request.overlap}}});
  }
  const int applied = add({.kind = TaskKind::apply, .own_part = true, .after = {{last}}});
  add({.kind = TaskKind::collective,
       .collective = CollectiveKind::all_gather,
       .carried = Carried::parameters,
       .after = {{applied}}});
  return plan;
}

/// How a model is shared out.
struct Sharding {
  bool reshard = true;        ///< what was gathered for the forward pass is freed after it
  RankGroups shards = {};     ///< among which it is
  bool has_replicas = false;  ///< of the same part, in other groups
};

/// Builds the iteration, unit by unit. Units are prefetched one ahead: a unit is gathered once the pass has come to the
/// one before it, so that at most two are there. Each micro-batch gathers anew, and scatters its gradients, so that no
/// rank ever has all of them; replicas add up what all micro-batches have left.
class Builder {
 public:
  Builder(const PlanRequest& request, const Sharding& sharding) : sharding_(sharding) {
    plan_.units = request.model.units.empty() ? std::vector<std::vector<int>>(3) : request.model.units;
    plan_.micro_batches = request.model.micro_batches;
  }

  StepPlan build() {
    reduced_.assign(plan_.units.size(), kNone);
    for (; micro_batch_ < plan_.micro_batches; ++micro_batch_) {
      forward();
      backward();
    }
    std::vector<After> all;
    for (const int task : reduced_) all.push_back({task});
    std::ranges::reverse(all);
    add({.kind = TaskKind::apply, .own_part = true, .after = std::move(all)});
    return std::move(plan_);
  }

 private:
  static constexpr int kNone = -1;
  int units() const { return static_cast<int>(plan_.units.size()); }

  void forward() {
    for (int unit = 0; unit < units(); ++unit) {
      // The last unit of the forward pass is the first of the backward pass, and stays. The first one of all is
      // gathered once the last micro-batch has freed it.
      const bool frees = sharding_.reshard && unit + 1 < units();
      const int gathered = gather(unit, frees, unit == 0 ? last_ : before_last_);
      compute({.kind = TaskKind::forward, .unit = unit, .after = {{gathered}}});
    }
  }

  void backward() {
    const bool is_last = micro_batch_ + 1 == plan_.micro_batches;
    for (int unit = units() - 1; unit >= 0; --unit) {
      int& reduced = reduced_[static_cast<std::size_t>(unit)];
      std::vector<After> after{{last_}};
      if (sharding_.reshard && unit + 1 < units()) after = {{gather(unit, true, before_last_)}};
      if (reduced != kNone) after.push_back({reduced});  // it makes room for new gradients
      compute({.kind = TaskKind::backward, .unit = unit, .after = std::move(after)});
      reduced = add({.kind = TaskKind::collective,
                     .collective = CollectiveKind::reduce_scatter,
                     .groups = sharding_.shards,
                     .own_part = true,
                     .unit = unit,
                     .micro_batch = micro_batch_,
                     .after = {{last_}}});
      if (sharding_.has_replicas && is_last)
        reduced = add({.kind = TaskKind::collective,
                       .groups = {.size = 0, .stride = sharding_.shards.size},
                       .part_among = sharding_.shards,
                       .unit = unit,
                       .micro_batch = micro_batch_,
                       .after = {{reduced}}});
    }
  }

  int add(Task task) {
    plan_.tasks.push_back(std::move(task));
    return plan_.size() - 1;
  }
  void compute(Task task) {
    task.micro_batch = micro_batch_;
    before_last_ = last_;
    last_ = add(std::move(task));
  }
  int gather(int unit, bool frees, int after) {
    return add({.kind = TaskKind::collective,
                .collective = CollectiveKind::all_gather,
                .carried = Carried::parameters,
                .groups = sharding_.shards,
                .frees = frees,
                .unit = unit,
                .micro_batch = micro_batch_,
                .after = after == kNone ? std::vector<After>() : std::vector<After>{{after}}});
  }

  Sharding sharding_;
  StepPlan plan_;
  int micro_batch_ = 0;
  int last_ = kNone, before_last_ = kNone;  ///< passes of units
  std::vector<int> reduced_;                ///< by unit: the last collective of its gradients
};

constexpr std::string_view kCitation =
    "Zhao et al., PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel, VLDB 2023, arXiv:2304.11277";

constexpr NumberField kHsdpFields[] = {{.name = "shard group", .standard = 8}};

}  // namespace

extern constinit const Method kZero{
    .name = "zero",
    .summary = "each rank has the optimizer's state (1), and gradients (2), of its part only, and gathers parameters",
    .citation = "Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, SC 2020",
    .fields = kStageField,
    .plan = plan_fsdp};

extern constinit const Method kFsdp{
    .name = "fsdp",
    .summary = "each rank has its part of all state; a unit's parameters are gathered for both passes (ZeRO-3)",
    .citation = kCitation,
    .by_units = true,
    .plan = [](const PlanRequest& request) { return Builder(request, {}).build(); }};

extern constinit const Method kFsdpKeeping{
    .name = "fsdp-keep",
    .summary = "as fsdp, but parameters that were gathered stay until the backward pass (SHARD_GRAD_OP)",
    .citation = kCitation,
    .by_units = true,
    .plan = [](const PlanRequest& request) { return Builder(request, {.reshard = false}).build(); }};

extern constinit const Method kHsdp{
    .name = "hsdp",
    .summary = "as fsdp within groups of neighbours, which all have the model: parts are added up between groups",
    .citation = kCitation,
    .fields = kHsdpFields,
    .by_units = true,
    .plan = [](const PlanRequest& request) {
      return Builder(request, {.shards = {.size = request.whole(0)}, .has_replicas = true}).build();
    }};

}  // namespace hbench
