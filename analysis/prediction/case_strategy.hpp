#pragma once

/// The edge between stored cases, which are text, and the value that everything else passes on.

#include "analysis/records/records.hpp"
#include "workloads/step/strategy.hpp"

namespace hbench {

/// What a case says of its strategy, on what it is computed, and by which executor. \throws Error (usage) for a name
/// that this version does not know.
TrainingStrategy parse_strategy(const Case& asked);
/// The method of a case's training. \throws Error (usage) as above.
MethodChoice method_of(const Case& asked);
/// Samples that pass through a model at once: of a GPU, or of a replica of one that is divided. \throws as above.
int micro_batch_of(const Case& asked);
/// Which activations a case computes again. \throws Error (usage) for a name that this version does not know.
Recomputation recomputation_of(const Case& asked);
/// The optimizer of a case, where it says one. \throws Error (usage) as above.
std::optional<OptimizerChoice> optimizer_of(const Case& asked);
/// Writes it into a case. What a strategy does not have is left empty, and so is what always was: CPU cores, float32
/// and ranks under MPI.
void write_strategy(Case& asked, const TrainingStrategy& strategy);

/// The strategy of a baseline on cores or GPUs: one process without communication.
TrainingStrategy no_communication(bool on_gpu, Precision precision);

/// `cpu`, `gpu`: whether it is a GPU. \throws Error (usage), with a suggestion.
bool parse_on_gpu(std::string_view device);

/// Workers on each node of a timed case, whose nodes have equally many.
int workers_per_node(const Case& timed);
/// Whether the ranks of a timed case are processes of a job, not threads of one process; the strategy is the case's.
bool ranks_are_processes(const Case& timed, const TrainingStrategy& strategy);

/// The world that a training case runs in; `gpus_per_node` is the profile's, and all of them where everything is on one
/// node. \throws Error as `parse_strategy`.
World world_of(const Case& asked, int gpus_per_node);

/// The world that a collective's case runs in.
World world_of_collective(const Case& asked);
/// The all-reduce of a rule for these bytes, or the algorithm of another collective. \pre no peer.
AlgorithmChoice algorithm_of(const Case& asked, std::int64_t bytes);

}  // namespace hbench
