#include "bench/front/fuller_program.hpp"
#include "bench/launch/installation.hpp"

/// Programs that have MPI and NCCL are followed by the trainer.
std::filesystem::path hbench::fuller_program() { return installation().trainer; }
