// hbench: the program that people type.

#include "bench/command/program.hpp"
#include "bench/front/worker_program.hpp"

int main(int argc, char** argv) {
  return hbench::run_program(argc, argv, hbench::verbs(), [](char** arguments) { hbench::become_worker(arguments); });
}
