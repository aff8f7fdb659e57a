#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// Parameters travel while gradients are computed from them; the update is made on their mean.
StepPlan plan_among(Among among) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective, .among = among, .carried = Carried::parameters},
           {.kind = TaskKind::apply, .after = {{1}, {2}}}}};
}

}  // namespace

extern constinit const Method kDecentralized{
    .name = "decentralized",
    .summary =
        "each rank averages its parameters with those of its two neighbours in a circle, and waits for them alone",
    .citation = "Lian et al., Can Decentralized Algorithms Outperform Centralized Algorithms? (D-PSGD), NeurIPS 2017",
    .plan = [](const PlanRequest&) { return plan_among(Among::neighbours); }};

extern constinit const Method kGossip{
    .name = "gossip",
    .summary =
        "each rank averages its parameters with those of one other, drawn anew each iteration, which does not wait",
    .citation = "Lian et al., Asynchronous Decentralized Parallel Stochastic Gradient Descent (AD-PSGD), ICML 2018",
    .plan = [](const PlanRequest&) { return plan_among(Among::partner); }};

}  // namespace hbench
