#pragma once

/// The edge between cases as they are stored, whose strategy is text, and the value that everything else passes on.

#include "analysis/records/records.hpp"
#include "workloads/step/strategy.hpp"

namespace hbench {

/// A case with what its text says of the strategy, on what it is computed, and by which executor. Only `planned` makes
/// one, so that both say the same: with another strategy the case is planned again, its batch and rate may be changed.
struct PlannedCase {
  Case asked;
  TrainingStrategy strategy;

  /// By a profile's `gpus_per_domain`, or `workers_per_node` of what is timed here. It is no part of the case, which is
  /// simulated on clusters with other nodes as well.
  World world(int gpus_per_node) const { return strategy.world(asked.workers(), gpus_per_node); }
  /// Samples that pass through a model at once: of a GPU, or of a replica of one that is divided.
  int micro_batch() const;
  /// As it is stored and shown.
  operator const Case&() const { return asked; }

 private:
  friend PlannedCase planned(Case stored);
  PlannedCase(Case stored, TrainingStrategy parsed) : asked(std::move(stored)), strategy(std::move(parsed)) {}
};
/// Reads what a case says. \throws Error (usage) for a name that this version does not know.
PlannedCase planned(Case stored);
/// Writes a strategy into a case. What it does not have is left empty, and so is what always was: CPU cores, float32
/// and ranks under MPI.
PlannedCase planned(Case asked, const TrainingStrategy& strategy);

/// The strategy of a baseline on cores or GPUs: one process without communication.
TrainingStrategy no_communication(bool on_gpu, Precision precision);

/// `cpu`, `gpu`: whether it is a GPU. \throws Error (usage), with a suggestion.
bool parse_on_gpu(std::string_view device);

/// Workers on each node of a timed case, whose nodes have equally many.
int workers_per_node(const Case& timed);
/// Whether the ranks of a timed case are processes of a job, not threads of one process; the strategy is the case's.
bool ranks_are_processes(const Case& timed, const TrainingStrategy& strategy);

/// The world that a collective's case runs in.
World world_of_collective(const Case& asked);
/// The all-reduce of a rule for these bytes, or the algorithm of another collective. \pre no peer.
AlgorithmChoice algorithm_of(const Case& asked, std::int64_t bytes);

}  // namespace hbench
