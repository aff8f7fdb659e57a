#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "bench/verbs/verb.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::string_view kExitCodes =
    "Exit codes: 0 good, 1 internal error, 2 wrong usage or input, 3 something is missing, read-only or full,\n"
    "4 wrong data, 5 a rank was lost or timed out, 130 interrupted.\n";

void print_help() {
  fmt::print(
      "hbench measures, predicts and explains how data-parallel training scales.\n\nUsage: hbench <verb> "
      "[options]\n\n");
  for (const Verb* verb : verbs())
    if (!verb->hidden) fmt::print("  {:10} {}\n", verb->name, verb->summary);
  fmt::print("\nStart with: hbench sweep --gpus 1..128\nEach verb explains itself: hbench <verb> --help\n\n{}",
             kExitCodes);
}

std::vector<std::string_view> visible_verbs() {
  std::vector<std::string_view> names;
  for (const Verb* verb : verbs())
    if (!verb->hidden) names.push_back(verb->name);
  return names;
}

const Verb& find_verb(std::string_view name) {
  for (const Verb* verb : verbs())
    if (verb->name == name) return *verb;
  throw unknown_name("verb", name, visible_verbs());
}

ExitCode run(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  if (first == "--help" || first == "-h" || first == "help") return print_help(), ExitCode::good;
  if (first == "--version") return fmt::print("hbench {}\n", HBENCH_VERSION), ExitCode::good;
  Call call{argv[0], {argv + 2, argv + argc}, "hbench"};
  for (int i = 1; i < argc; ++i) call.command += fmt::format(" {}", argv[i]);
  return find_verb(first).run(call);
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  using namespace hbench;
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "hbench: {}\n", error.what());
    if (!error.hint().empty()) fmt::print(stderr, "  {}\n", error.hint());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "hbench: internal error: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
