#include "workloads/methods/later_plan.hpp"

namespace hbench {
namespace {

/// PyTorch's value (torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py: start_powerSGD_iter), in jobs of
/// which it advises a tenth.
constexpr NumberField kFields[] = {{.name = "start", .standard = 1000}};

}  // namespace

extern const Method kLateCompression;
constinit const Method kLateCompression{
    .name = "late-compression",
    .summary = "gradients travel as they are until an iteration of the job; from there --compressor codes them",
    .citation =
        "Vogels et al., PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization, NeurIPS 2019, "
        "arXiv:1905.13727; its start iteration as in PyTorch",
    .fields = kFields,
    .plan = [](const PlanRequest& request) { return later_plan(request, Carried::gradients); }};

}  // namespace hbench
