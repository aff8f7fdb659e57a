#pragma once

#include "bench/worker/rank.hpp"

namespace hbench {

/// One rank of an emulated launch: replays its timeline on the links that this process finds itself on. It is bound to
/// no core, since ranks share them. \pre `order.emulation`
ExitCode run_emulated_worker(const WorkOrder& order, const Say& say);

}  // namespace hbench
