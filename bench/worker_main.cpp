// hbench-worker: what ranks run that train nothing, and the verbs that need MPI or NCCL in their own process.

#include "bench/command/program.hpp"
#include "bench/front/fuller_program.hpp"
#include "bench/verbs/worker.hpp"
#include "bench/version.hpp"

int main(int argc, char** argv) {
  return hbench::run_program(argc, argv, hbench::all_verbs(), hbench::version_text(),
                             [](hbench::Libraries needed, const auto& arguments) {
                               if (needed == hbench::Libraries::all) hbench::become_fuller(arguments);
                             });
}
