#pragma once

/// hbench itself is linked with neither LibTorch nor MPI nor NCCL, which take half a second to load: hbench-worker is.
/// What hbench wants to know of them it asks the worker, and what needs them in one process it lets the worker do.
/// The functions of those libraries that hbench refers to are in the other files of this folder.

#include "bench/worker/protocol.hpp"
#include "collectives/base/library.hpp"

namespace hbench {

/// Whether hbench-worker is where it belongs. Does not start it.
Availability worker_availability();

/// Whether hbench-worker is there and starts; tried once.
const Availability& worker_start();

/// Of the worker's libraries; asked once. Of a worker that does not start, nothing but that nothing can be trained.
const WorkerFacts& worker_facts();

/// This process goes on as hbench-worker, with the same arguments. \throws Error (environment) when it cannot.
[[noreturn]] void become_worker(char** argv);

}  // namespace hbench
