#pragma once

/// Where the measured cases of a sweep run: on CPU cores or GPUs, how many of them, and by which executors. Pure.

#include <string>

#include "bench/plan.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "workloads/precision.hpp"

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
  std::string name;
  std::string refusal;
};

struct MeasuredPlace {
  bool on_gpu = false;
  std::string refusal;  ///< why nothing can be measured there; empty when it can
  int ranks = 1;        ///< at most
  std::string bound;    ///< why no more
  std::string model;    ///< trained where nobody asks for another
  /// One process without communication; its workload is still to be said.
  Case baseline;
  std::string executor;  ///< asked for; empty: the best for each algorithm
  int gpus = 0;
  std::map<std::string, std::string, std::less<>> absent;  ///< as `LocalMachine`

  /// For a job of so many ranks, servers included.
  ExecutorChoice executor_for(const AlgorithmRule& algorithm, const CompressorChoice& compressor, int ranks) const;
};

/// \throws Error (usage) for a device, executor or precision that nothing knows, or that do not go together.
MeasuredPlace measured_place(const SweepRequest& request, const LocalMachine& machine);

}  // namespace hbench
