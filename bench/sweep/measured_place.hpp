#pragma once

/// Where the measured cases of a sweep run: on CPU cores or GPUs, how many of them, and by which executors. Pure.

#include <string>

#include "analysis/prediction/data.hpp"
#include "bench/hosts/compare_hosts.hpp"
#include "bench/output/console.hpp"
#include "bench/sweep/request.hpp"
#include "workloads/step/strategy.hpp"

namespace hbench {

/// What is trained where nobody says otherwise: small on CPU cores, as is usual on GPUs.
struct StepDefaults {
  const char* model;
  int batch;
  int image_size;
  Precision precision;
};
const StepDefaults& step_defaults(bool on_gpu);

/// The executor of a case, or why there is none.
struct ExecutorChoice {
  const ExecutorKind* executor = nullptr;
  std::string refusal;
};

struct MeasuredPlace : TrainingMeans {
  bool on_gpu = false;
  std::string refusal;  ///< why nothing can be measured there; empty when it can
  int ranks = 1;        ///< at most
  std::string bound;    ///< why no more
  std::string model;    ///< trained where nobody asks for another
  /// One process without communication; its workload is still to be said.
  Case baseline;
  TrainingStrategy alone;  ///< the baseline's
  std::string executor;    ///< asked for; empty: the best for each algorithm

  /// Returns the executor for a job on `nodes` nodes. \param shares_gpus whether several of its ranks, servers
  /// included, are on one GPU. \pre the strategy communicates.
  ExecutorChoice executor_for(const TrainingStrategy& strategy, int nodes, bool shares_gpus) const;
};

/// Whether a sweep measures on GPUs: as its device or executor says, else where the machine has some. \throws Error
/// (usage) for a device or executor that nothing knows, or that do not go together.
bool chooses_gpus(const SweepRequest& request, const LocalMachine& machine);

/// \throws Error (usage) for a device, executor or precision that nothing knows, or that do not go together.
MeasuredPlace measured_place(const SweepRequest& request, const LocalMachine& machine);

/// Makes a case one that is timed on this machine: measured, or emulated where its network is
/// (`LocalMachine::emulated`).
void time_here(Case& asked, const std::string& emulated);

/// What this machine can measure, with at most `oversubscribe` ranks; 0: as many as there are cores, or GPUs, or as the
/// hosts of `allocation` have slots.
LocalMachine local_machine(int oversubscribe, Allocation allocation = {});
/// What the hosts of `here.allocation` can measure, each as it says of itself: what all have, and why one has not.
LocalMachine machine_of_hosts(LocalMachine here, const std::vector<HostFacts>& hosts);
/// What those hosts can measure where nobody has asked them: as this machine, and with GPUs where the request is for
/// those. A job's slots are no more than GPUs there, and a note says what is idle.
LocalMachine machine_before_answers(LocalMachine here, const SweepRequest& request);
/// Returns the same for a caller that measures nothing: no driver is asked for GPUs, which takes time.
LocalMachine machine_at_rest();

/// What simulations may take here; Ctrl-C stops them, and `progress`, which outlives them, shows how far they are.
SimulationMeans simulation_means(Progress& progress);

}  // namespace hbench
