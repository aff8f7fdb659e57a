// hbench: the program that people type.

#include "bench/command/program.hpp"
#include "bench/front/fuller_program.hpp"
#include "bench/launch/installation.hpp"
#include "bench/version.hpp"

std::filesystem::path hbench::fuller_program() { return installation().worker; }

int main(int argc, char** argv) {
  std::vector<const hbench::Verb*> verbs(hbench::verbs().begin(), hbench::verbs().end());
  verbs.insert(verbs.end(), hbench::inner_verbs().begin(), hbench::inner_verbs().end());
  return hbench::run_program(argc, argv, verbs, hbench::version_text(),
                             [](hbench::Libraries, const auto& arguments) { hbench::become_fuller(arguments); });
}
