// hbench-trainer: what ranks run that train, and the verbs that need LibTorch in their own process.

#include "bench/command/program.hpp"
#include "bench/verbs/worker.hpp"
#include "bench/version.hpp"

int main(int argc, char** argv) { return hbench::run_program(argc, argv, hbench::all_verbs(), hbench::version_text()); }
