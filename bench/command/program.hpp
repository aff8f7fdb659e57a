#pragma once

/// All of hbench's programs do the same: a verb is looked up and run, and an `Error` becomes one line and an exit code.
///
/// Lines beside a command's output: progress, warnings, what is left out.

#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "bench/command/verb.hpp"

namespace hbench {

inline constexpr std::string_view kExitCodes =
    "Exit codes: 0 good, 1 internal error, 2 wrong usage or input, 3 something is missing, read-only or full,\n"
    "4 wrong data, 5 a rank was lost or timed out, 130 interrupted, 141 whoever read the output has gone;\n"
    "of hbench track: 10 regressed, 11 inconclusive, 12 not comparable.\n";

/// This process among those that a launcher started, by the launcher's own variables.
struct StartedRanks {
  int ranks = 0;  ///< 0: nobody started us
  int rank = 0;
  const char* variable = "";  ///< that has `ranks`
};

/// From what Open MPI, MPICH, Slurm, Horovod and torchrun set (OMPI_COMM_WORLD_*, PMI_*, SLURM_*, HOROVOD_*, RANK). A
/// terminal that srun has opened (`srun --pty bash`) is no rank.
StartedRanks find_started_ranks();

/// Called before a verb that needs libraries, with all arguments; returns where this program has them.
using Leave = void (*)(Libraries needed, const std::vector<std::string>& arguments);

/// `version` is what --version prints; `leave` may be null where this program has all libraries. The exit code of the
/// program; whatever is wrong has been said on standard error.
int run_program(int argc, char** argv, std::span<const Verb* const> verbs, std::string_view version,
                Leave leave = nullptr);

inline constexpr std::size_t kUsualWidth = 80;

/// Columns of the terminal that `file` is, at least 40; `kUsualWidth` where nobody knows how wide it is, and
/// `kAnyWidth` where it is a file or a pipe. `COLUMNS` in the environment is used instead where it is set.
std::size_t terminal_width(int file);

/// Returns a line for standard error: as wide as the terminal that it is, with `indent` blanks before further lines;
/// elsewhere one line, for `grep`. Each line that it has already is cleaned: `one_line`.
std::string for_people(std::string_view line, std::size_t indent);

/// Writes on standard error. Whoever read it may have gone, as after `2>&1 | head -1`: the work goes on all the same,
/// where `fmt::print` would throw.
template <class... Values>
void inform(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}

}  // namespace hbench
