#include <algorithm>

#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// Builds the iteration, unit by unit. Units are prefetched one ahead: a unit is gathered once the pass has come to the
/// one before it, so that at most two are there.
class Builder {
 public:
  explicit Builder(const PlanRequest& request) {
    plan_.units = request.units.empty() ? std::vector<std::vector<int>>(3) : request.units;
  }

  StepPlan build(bool reshard) {
    const int units = static_cast<int>(plan_.units.size());
    std::vector<int> forward, gathered, scattered;
    for (int unit = 0; unit < units; ++unit) {
      // The last unit of the forward pass is the first of the backward pass, and stays.
      const bool frees = reshard && unit + 1 < units;
      gathered.push_back(
          gather(unit, frees, unit < 2 ? std::vector<After>() : std::vector<After>{{forward[unit - 2]}}));
      forward.push_back(add({.kind = TaskKind::forward, .unit = unit, .after = {{gathered.back()}}}));
    }
    int last = forward.back(), before_last = forward.back();
    for (int unit = units - 1; unit >= 0; --unit) {
      std::vector<After> after{{last}};
      if (reshard && unit + 1 < units) after = {{gather(unit, true, {{before_last}})}};
      before_last = last;
      last = add({.kind = TaskKind::backward, .unit = unit, .after = after});
      scattered.push_back(add({.kind = TaskKind::collective,
                               .collective = CollectiveKind::reduce_scatter,
                               .own_part = true,
                               .unit = unit,
                               .after = {{last}}}));
    }
    std::vector<After> all;
    for (const int task : scattered) all.push_back({task});
    add({.kind = TaskKind::apply, .own_part = true, .after = std::move(all)});
    return std::move(plan_);
  }

 private:
  int add(Task task) {
    plan_.tasks.push_back(std::move(task));
    return plan_.size() - 1;
  }
  int gather(int unit, bool frees, std::vector<After> after) {
    return add({.kind = TaskKind::collective,
                .collective = CollectiveKind::all_gather,
                .carried = Carried::parameters,
                .frees = frees,
                .unit = unit,
                .after = std::move(after)});
  }

  StepPlan plan_;
};

constexpr std::string_view kCitation =
    "Zhao et al., PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel, VLDB 2023, arXiv:2304.11277";

}  // namespace

extern const Method kFsdp;
constinit const Method kFsdp{
    .name = "fsdp",
    .summary = "each rank has its part of all state; a unit's parameters are gathered for both passes (ZeRO-3)",
    .citation = kCitation,
    .by_units = true,
    .plan = [](const PlanRequest& request) { return Builder(request).build(true); }};

extern const Method kFsdpKeeping;
constinit const Method kFsdpKeeping{
    .name = "fsdp-keep",
    .summary = "as fsdp, but parameters that were gathered stay until the backward pass (SHARD_GRAD_OP)",
    .citation = kCitation,
    .by_units = true,
    .plan = [](const PlanRequest& request) { return Builder(request).build(false); }};

}  // namespace hbench
