#include "workloads/methods/later_plan.hpp"

namespace hbench {
namespace {

/// As short as Bagua's warm-up. DeepSpeed advises 15 to 25 % of a job's steps (23,000 of BERT-large's).
constexpr NumberField kFields[] = {{.name = "start", .standard = 100}};

}  // namespace

extern const Method kOneBitAdam;
constinit const Method kOneBitAdam{
    .name = "1-bit-adam",
    .summary =
        "Adam until an iteration of the job; from there 1 bit a number of its momentum travels, and its variance stays",
    .citation =
        "Tang et al., 1-bit Adam: Communication Efficient Large-Scale Training with Adam's Convergence Speed, "
        "ICML 2021, arXiv:2102.02888",
    .fields = kFields,
    .compressor = "ef2:onebit",
    .plan = momenta_plan};

}  // namespace hbench
