#pragma once

/// The flags and the batch script of `hbench submit --engine slurm`. Pure.

#include <array>
#include <optional>
#include <string>

#include "bench/submit/engine.hpp"

namespace hbench {

/// The flags of `hbench submit --engine slurm`. The first ones mean to sbatch what they are called, and are passed on
/// where they are given.
inline constexpr std::size_t kPassedOnToSbatch = 7;
inline constexpr std::array<EngineOption, kPassedOnToSbatch + 5> kSlurmOptions = {{
    {"partition", "where to run; empty: the site's default", ""},
    {"account", "who pays", ""},
    {"qos", "quality of service", ""},
    {"constraint", "features that nodes must have, such as 'a100&ib'", ""},
    {"reservation", "a reservation to run in", ""},
    {"exclude", "nodes not to run on, such as n[3-4]", ""},
    {"gres", "generic resources of a node, such as gpu:a100:4, where a site has no --gpus-per-node", ""},
    {"sbatch", "another option of sbatch, such as '--licenses=lustre' (repeatable)", "", true},
    {"cpus-per-task", "cores of a rank; empty: 1, with GPUs the site's default", ""},
    {"exclusive", "nodes without other jobs, which would disturb: yes or no", "yes"},
    {"restarts", "how often the job starts again when its time limit is near; 0: never, nor after a preemption", "8"},
    {"setup", "a shell command before the sweep, such as 'module load openmpi'", ""},
}};

/// As `Engine::refuses`.
std::string slurm_refuses(const Submission& submission);
/// As `Engine::gpus_per_node`: of `--gres`.
int slurm_gpus(const Submission::Options& options);
/// As `Engine::render`. \pre it is not refused.
std::string slurm_script(const Submission& submission);

/// A time as sbatch takes it: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`
/// or `days-hours:minutes:seconds`. None where a text is none of these, and for 0. Pure.
std::optional<Seconds> slurm_time(std::string_view text);

}  // namespace hbench
