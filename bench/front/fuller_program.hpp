#pragma once

/// Three programs, each with the libraries of the one before and some more: hbench has neither LibTorch nor MPI nor
/// NCCL, hbench-worker has MPI and NCCL, hbench-trainer all of them. LibTorch takes half a second to load, in each
/// rank. What a program wants to know of libraries that it lacks it asks the next one, and what needs them in one
/// process it lets that one do. The functions of these libraries that it refers to are in the other files of this
/// folder.

#include <filesystem>

#include "bench/worker/protocol.hpp"
#include "collectives/base/library.hpp"

namespace hbench {

/// The next program after this one: main.cpp has that of hbench, trainer_next.cpp that of all others.
std::filesystem::path fuller_program();

/// Returns whether that program is where it belongs, and does not start it.
Availability fuller_availability();

/// Returns whether it is there and starts; that is tried once.
const Availability& fuller_start();

/// Returns what it says of its libraries, asked once; of a program that does not start, that nothing can be trained.
const WorkerFacts& fuller_facts();

/// This process goes on as that program, with the same arguments. \throws Error (environment) when it cannot.
[[noreturn]] void become_fuller(const std::vector<std::string>& arguments);

}  // namespace hbench
