#include "bench/front/fuller_program.hpp"
#include "bench/launch/installation.hpp"
#include "bench/worker/training.hpp"

namespace hbench {

/// A rank is called the same whether it trains or not: people look for `hbench-worker worker`.
ExitCode run_training_worker(const WorkOrder& order, const Say&) {
  become_fuller({installation().worker.string(), "worker", to_json(order)});
}

}  // namespace hbench
