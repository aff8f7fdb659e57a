#include "bench/front/fuller_program.hpp"
#include "bench/launch/installation.hpp"

/// Of the programs that have MPI and NCCL.
std::filesystem::path hbench::fuller_program() { return installation().trainer; }
