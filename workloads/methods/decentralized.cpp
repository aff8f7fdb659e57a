#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// Parameters travel while gradients are computed from them; the update is made on their mean.
StepPlan plan_among(Among among, PeerGraph graph = PeerGraph::circle) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective, .among = among, .carried = Carried::parameters, .graph = graph},
           {.kind = TaskKind::apply, .after = {{1}, {2}}}}};
}

}  // namespace

extern const Method kDecentralized;
constinit const Method kDecentralized{
    .name = "decentralized",
    .summary =
        "each rank averages its parameters with those of its two neighbours in a circle, and waits for them alone",
    .citation = "Lian et al., Can Decentralized Algorithms Outperform Centralized Algorithms? (D-PSGD), NeurIPS 2017",
    .plan = [](const PlanRequest&) { return plan_among(Among::neighbours); }};

extern const Method kExponential;
constinit const Method kExponential{
    .name = "exponential",
    .summary = "each rank takes the mean with the parameters of one other, 1, 2, 4 ... ranks before it in turn",
    .citation =
        "Assran et al., Stochastic Gradient Push for Distributed Deep Learning, ICML 2019, arXiv:1811.10792; Ying et "
        "al., Exponential Graph is Provably Efficient for Decentralized Deep Training, NeurIPS 2021, arXiv:2110.13363",
    .plan = [](const PlanRequest&) { return plan_among(Among::neighbours, PeerGraph::exponential); }};

extern const Method kGossip;
constinit const Method kGossip{
    .name = "gossip",
    .summary =
        "each rank averages its parameters with those of one other, drawn anew each iteration, which does not wait",
    .citation = "Lian et al., Asynchronous Decentralized Parallel Stochastic Gradient Descent (AD-PSGD), ICML 2018",
    .plan = [](const PlanRequest&) { return plan_among(Among::partner); }};

}  // namespace hbench
