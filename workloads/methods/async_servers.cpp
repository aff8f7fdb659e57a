#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kStalenessField[] = {{.name = "staleness", .standard = 3, .smallest = 0}};

StepPlan plan_async_servers(const PlanRequest& request) {
  Task exchange{.kind = TaskKind::collective, .among = Among::servers, .after = {{1, request.overlap}}};
  if (!request.values.empty()) exchange.bound = request.whole(0);
  return {{{.kind = TaskKind::forward}, {.kind = TaskKind::backward, .after = {{0}}}, exchange}};
}

}  // namespace

extern constinit const Method kAsyncServers{
    .name = "async-ps",
    .summary = "servers apply each rank's gradients as they come; no rank waits for another",
    .citation = "Dean et al., Large Scale Distributed Deep Networks, NeurIPS 2012",
    .plan = plan_async_servers};

extern constinit const Method kStaleServers{
    .name = "ssp",
    .summary = "as async-ps, but no rank is further ahead of another than some iterations",
    .citation =
        "Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server, NeurIPS 2013",
    .fields = kStalenessField,
    .plan = plan_async_servers};

}  // namespace hbench
