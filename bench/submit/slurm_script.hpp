#pragma once

/// The batch script of `hbench submit --engine slurm`. Pure.

#include <string>

#include "bench/submit/engine.hpp"

namespace hbench {

/// As `Engine::refuses`.
std::string slurm_refuses(const Submission& submission);
/// As `Engine::gpus_per_node`: of `--gres`.
int slurm_gpus(const Submission::Options& options);
/// As `Engine::render`. \pre it is not refused.
std::string slurm_script(const Submission& submission);

}  // namespace hbench
