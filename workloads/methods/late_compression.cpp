// The plan of methods that begin as synchronous ones, without a compressor, and go on otherwise. Internal to
// `methods/`.

#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// \param request its first value is the iteration of the job in which `later` takes the place of gradients as they are
StepPlan later_plan(const PlanRequest& request, Carried later) {
  const int start = request.whole(0);
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::collective, .verbatim = true, .until = start, .after = {{1, request.overlap}}},
           {.kind = TaskKind::collective, .carried = later, .from = start, .after = {{1, request.overlap}}},
           {.kind = TaskKind::apply, .after = {{2}, {3}}}}};
}

/// The optimizer's momentum travels, with its variance as it is.
StepPlan momenta_plan(const PlanRequest& request) { return later_plan(request, Carried::momenta); }

/// As short as Bagua's warm-up. DeepSpeed advises 15 to 25 % of a job's steps (23,000 of BERT-large's).
constexpr NumberField kOneBitAdamFields[] = {{.name = "start", .standard = 100}};

/// Bagua's value (bagua/torch_api/algorithms/q_adam.py: warmup_steps), which advises a fifth of a job's steps.
constexpr NumberField kQAdamFields[] = {{.name = "start", .standard = 100}};

/// PyTorch's value (torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py: start_powerSGD_iter), in jobs of
/// which it advises a tenth.
constexpr NumberField kLateCompressionFields[] = {{.name = "start", .standard = 1000}};

}  // namespace

extern constinit const Method kOneBitAdam{
    .name = "1-bit-adam",
    .summary =
        "Adam until an iteration of the job; from there 1 bit a number of its momentum travels, and its variance stays",
    .citation =
        "Tang et al., 1-bit Adam: Communication Efficient Large-Scale Training with Adam's Convergence Speed, "
        "ICML 2021, arXiv:2102.02888",
    .fields = kOneBitAdamFields,
    .compressor = "ef2:onebit",
    .plan = momenta_plan};

extern constinit const Method kQAdam{
    .name = "qadam",
    .summary = "as 1-bit-adam, in 8 bits a number, between the least and the largest of a message",
    .citation = "Gan et al., Bagua: Scaling up Distributed Learning with System Relaxations, VLDB 2022 (QAdam)",
    .fields = kQAdamFields,
    .compressor = "minmax8",
    .plan = momenta_plan};

extern constinit const Method kLateCompression{
    .name = "late-compression",
    .summary = "gradients travel as they are until an iteration of the job; from there --compressor codes them",
    .citation =
        "Vogels et al., PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization, NeurIPS 2019, "
        "arXiv:1905.13727; its start iteration as in PyTorch",
    .fields = kLateCompressionFields,
    .plan = [](const PlanRequest& request) { return later_plan(request, Carried::gradients); }};

}  // namespace hbench
