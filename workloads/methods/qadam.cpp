#include "workloads/methods/later_plan.hpp"

namespace hbench {
namespace {

/// Bagua's value (bagua/torch_api/algorithms/q_adam.py: warmup_steps), which advises a fifth of a job's steps.
constexpr NumberField kFields[] = {{.name = "start", .standard = 100}};

}  // namespace

extern const Method kQAdam;
constinit const Method kQAdam{
    .name = "qadam",
    .summary = "as 1-bit-adam, in 8 bits a number, between the least and the largest of a message",
    .citation = "Gan et al., Bagua: Scaling up Distributed Learning with System Relaxations, VLDB 2022 (QAdam)",
    .fields = kFields,
    .compressor = "minmax8",
    .plan = momenta_plan};

}  // namespace hbench
