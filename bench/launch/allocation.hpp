#pragma once

/// The hosts that a person or an engine gives to ranks. An engine supplies an allocation; the launcher stays mpirun (or
/// srun). Pure, but for reading the host file.

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

struct AllocatedHost {
  std::string name;
  int slots = 1;  ///< ranks that it takes

  friend bool operator==(const AllocatedHost&, const AllocatedHost&) = default;
};

struct Allocation {
  std::vector<AllocatedHost> hosts;  ///< empty: this machine alone
  std::string origin;                ///< who gave them, in words: `-H`, `hosts.txt`, `Slurm's job 17`
  std::string launcher = "mpirun";   ///< what starts ranks there

  /// Whether ranks are started on this machine alone, by no host's name.
  bool is_local() const { return hosts.empty(); }
  int slots() const;
  /// `a:4,b:4 (Slurm's job 17)`: hosts with their slots and their origin.
  std::string in_words() const;
};

/// `a:4,b:4`; a host without a number has one slot, and one that is named twice the slots of both. \throws Error
/// (usage) that quotes `text`.
Allocation parse_host_list(std::string_view text);

/// A host file as Open MPI reads it: `NAME slots=4` a line, or `NAME:4`; `#` begins a comment. \throws Error (usage)
/// with file and line.
Allocation parse_hostfile(std::string_view text, const std::string& file);

/// Names of a list of Slurm's: `n[1-3,07],login` -> n1, n2, n3, n07, login. \throws Error (usage) that quotes it.
std::vector<std::string> parse_slurm_nodes(std::string_view list);

/// Numbers of a list of Slurm's, a node each: `2(x3),1` -> 2, 2, 2, 1. \throws Error (usage) that quotes it.
std::vector<int> parse_slurm_counts(std::string_view list);

/// What the flags say of hosts; empty where they are not given.
struct HostFlags {
  std::string hosts;                ///< `-H`
  std::filesystem::path hostfile;   ///< `--hostfile`
  std::string launcher = "mpirun";  ///< `--launcher`
};

/// The hosts of the flags, else those of the Slurm job in which we are, else those of Open MPI's own variable for a
/// default host file (`OMPI_MCA_orte_default_hostfile`, which MPIJobs and the agents of Spark and Ray set), else this
/// machine alone. One host that is this machine is no allocation. \param variable gives an environment variable, null
/// where there is none. \throws Error (usage).
Allocation allocation_of(
    const HostFlags& flags,
    const std::function<const char*(const char* name)>& variable = [](const char* name) { return std::getenv(name); });

}  // namespace hbench
