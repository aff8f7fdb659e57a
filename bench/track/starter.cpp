#include "bench/track/starter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/track/experiment.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/toml_reader.hpp"

namespace hbench {
namespace {

/// Ranks of the collectives: a few are enough to see a change, and more only take longer to start.
constexpr int kMostTracked = 8;

std::string head(const std::string& branch) {
  return fmt::format(
      "# What this project tracks. hbench track run measures it, hbench track check judges it.\n"
      "[track]\n"
      "database = \"hbench.db\"  # beside this file\n"
      "baseline = {}  # runs are held to those of this branch\n"
      "launches = 5  # of each case in a run: fresh processes each time\n"
      "max_launches = 10  # with those that hbench track check adds before it says that a case has regressed\n"
      "least_effect = \"3%\"  # smaller changes do not count\n"
      "# fail_on = \"inconclusive\"  # also fail where nothing can be said\n",
      toml_text(branch.empty() ? "main" : branch));
}

/// Training, where there is LibTorch. The keys are the flags of `hbench sweep`.
std::string sweep(const LocalMachine& machine) {
  if (!machine.no_training.empty())
    return fmt::format("\n# Training steps are not tracked: {}\n", one_line(machine.no_training));
  const bool gpus = machine.gpus > 0;
  const int most = gpus ? machine.gpus : std::min(machine.ranks, kMostTracked);
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
  const int ranks = gpus > 1 ? gpus : std::clamp(machine.local.cores, 2, kMostTracked);
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

/// `run = "./bench"`, where there is a value.
std::string key(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{} = {}\n", name, toml_text(value));
}

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

constexpr std::string_view kQuickGate =
    "\n# What a pull request is judged by, where all of it takes too long: hbench track run --gate quick\n"
    "# [gate.quick]\n# experiments = [\"{}\"]\n# least_effect = \"5%\"\n";

}  // namespace

std::string StarterCommand::name() const {
  constexpr std::array<std::string_view, 12> kStarters{"env",  "sh",     "bash",    "python", "python3", "exec",
                                                       "time", "mpirun", "mpiexec", "srun",   "taskset", "numactl"};
  for (const std::string_view word : words_of(run)) {
    const std::string_view file = word.substr(word.rfind('/') + 1);
    const bool plain = !file.empty() && std::ranges::all_of(file, is_in_name) && !word.starts_with('-');
    if (plain && std::ranges::find(kStarters, file) == kStarters.end()) return std::string(file);
  }
  return std::string(kCommandKind);
}

std::string starter_file(const StarterCommand& command, const std::string& branch) {
  return head(branch) + "\n[[command]]  # a program of this project; in a shell, in the folder of this file\n" +
         key("name", command.name()) +
         (command.build.empty() ? "# build = \"make -j4\"  # before the first launch of a run\n" : "") +
         key("build", command.build) + key("run", command.run) + key("pattern", command.pattern.expression) +
         key("unit", command.pattern.unit) + key("better", command.pattern.better) +
         (command.pattern.take == PatternOptions().take ? "" : key("take", command.pattern.take)) +
         fmt::format(kQuickGate, command.name());
}

std::string starter_file(const StarterMachine& machine) {
  return head(machine.branch) + sweep(machine.local) + collective(machine) + fmt::format(kQuickGate, "all-reduce") +
         "\n# What a new cluster must reach, where there is no history yet:\n"
         "# [[limit]]\n# case = \"all-reduce of 16MiB\"  # a part of the names of cases\n"
         "# value = \"11 GB/s\"  # of bus bandwidth; or \"2.9 ms\", or \"390 samples/s\"\n"
         "# worse = \"5%\"  # so much worse is allowed\n# warn = \"3%\"\n";
}

}  // namespace hbench
