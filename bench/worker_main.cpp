// hbench-worker: what ranks run, and the verbs that need LibTorch, MPI or NCCL in their own process.

#include <vector>

#include "bench/command/program.hpp"
#include "bench/verbs/worker.hpp"
#include "bench/version.hpp"

int main(int argc, char** argv) {
  std::vector<const hbench::Verb*> verbs(hbench::verbs().begin(), hbench::verbs().end());
  verbs.insert(verbs.end(), hbench::inner_verbs().begin(), hbench::inner_verbs().end());
  verbs.insert(verbs.end(), hbench::worker_verbs().begin(), hbench::worker_verbs().end());
  return hbench::run_program(argc, argv, verbs, hbench::version_text());
}
