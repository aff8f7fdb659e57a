// hbench: the program that people type.

#include <vector>

#include "bench/command/program.hpp"
#include "bench/front/worker_program.hpp"
#include "bench/version.hpp"

int main(int argc, char** argv) {
  std::vector<const hbench::Verb*> verbs(hbench::verbs().begin(), hbench::verbs().end());
  verbs.insert(verbs.end(), hbench::inner_verbs().begin(), hbench::inner_verbs().end());
  return hbench::run_program(argc, argv, verbs, hbench::version_text(),
                             [](char** arguments) { hbench::become_worker(arguments); });
}
