#include "bench/track/starter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/toml_text.hpp"

namespace hbench {
namespace {

/// Ranks of the collectives: a few are enough to see a change, and more only take longer to start.
constexpr int kMostRanks = 8;

std::string head(const StarterMachine& machine) {
  return fmt::format(
      "# What this project tracks. hbench track run measures it, hbench track check judges it.\n"
      "[track]\n"
      "database = \"hbench.db\"  # beside this file\n"
      "baseline = {}  # runs are held to those of this branch\n"
      "launches = 5  # of each case in a run: fresh processes each time\n"
      "max_launches = 10  # with those that hbench track check adds before it says that a case has regressed\n"
      "least_effect = \"3%\"  # smaller changes do not count\n"
      "# fail_on = \"inconclusive\"  # also fail where nothing can be said\n",
      toml_text(machine.branch.empty() ? "main" : machine.branch));
}

/// Training, where there is LibTorch. The keys are the flags of `hbench sweep`.
std::string sweep(const LocalMachine& machine) {
  if (!machine.no_training.empty())
    return fmt::format("\n# Training steps are not tracked: {}\n", one_line(machine.no_training));
  const bool gpus = machine.gpus > 0;
  const int most = gpus ? machine.gpus : std::min(machine.ranks, kMostRanks);
  return fmt::format(
      "\n[[sweep]]  # training steps; the keys are the flags of hbench sweep\n"
      "name = \"training\"\n"
      "workload = \"{}\"\n"
      "gpus = {}\n"
      "algorithm = \"{}\"\n",
      gpus ? "resnet50" : "resnet18", most, gpus ? "vendor" : "ring");
}

/// All-reduces, small and large. The keys are the flags of `hbench collective`.
std::string collective(const StarterMachine& machine) {
  const int gpus = machine.local.gpus;
  const int ranks = gpus > 1 ? gpus : std::clamp(machine.local.cores, 2, kMostRanks);
  std::string executor = gpus > 1 ? "nccl" : machine.mpi ? "mpi" : "threads";
  return fmt::format(
      "\n[[collective]]  # all-reduces by themselves; the keys are the flags of hbench collective\n"
      "name = \"all-reduce\"\n"
      "collective = \"all-reduce\"\n"
      "ranks = {}\n"
      "algorithm = {}\n"
      "executor = \"{}\"\n"
      "minbytes = \"64K\"\n"
      "maxbytes = \"16M\"\n"
      "stepfactor = 16\n",
      ranks, executor == "threads" ? "\"ring\"" : "[\"ring\", \"vendor\"]", executor);
}

}  // namespace

std::string starter_file(const StarterMachine& machine) {
  return head(machine) + sweep(machine.local) + collective(machine) +
         "\n# What a pull request is judged by, where all of it takes too long: hbench track run --gate quick\n"
         "# [gate.quick]\n# experiments = [\"all-reduce\"]\n# least_effect = \"5%\"\n"
         "\n# What a new cluster must reach, where there is no history yet:\n"
         "# [[limit]]\n# case = \"all-reduce of 16MiB\"  # a part of the names of cases\n"
         "# value = \"11 GB/s\"  # of bus bandwidth; or \"2.9 ms\", or \"390 samples/s\"\n"
         "# worse = \"5%\"  # so much worse is allowed\n# warn = \"3%\"\n";
}

}  // namespace hbench
