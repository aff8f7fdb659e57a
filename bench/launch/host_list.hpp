#pragma once

/// The hosts of a job, and lists of them as people and launchers write them. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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
  std::string note = {};             ///< what of the job is not used, and the cure; empty for nothing
  std::optional<int> gpus = {};      ///< on each host, of a job: as its engine says; 0: it does not

  /// Whether ranks are started on this machine alone, by no host's name.
  bool is_local() const { return hosts.empty(); }
  int slots() const;
  /// `a:4,b:4 (Slurm's job 17)`: the first hosts with their slots, and their origin.
  std::string in_words() const;
};

/// Hosts in the order in which they are first named.
class HostList {
 public:
  /// Adds slots to a host. Returns whether it is new. \throws Error (usage) for more slots than any job has.
  bool add(std::string_view name, int slots);
  std::vector<AllocatedHost> take() { return std::move(hosts_); }

 private:
  std::vector<AllocatedHost> hosts_;
  std::unordered_map<std::string, std::size_t> by_name_;
  long slots_ = 0;
};

/// `a:4,b:4`, with or without blanks behind commas, or a comma behind all; a host without a number has one slot, and
/// one that is named twice the slots of both. \throws Error (usage) that quotes `text`.
Allocation parse_host_list(std::string_view text);

/// A host file as Open MPI reads it: `NAME slots=4` a line (or `cpu`, `count`), or `NAME:4`, or a line for each slot;
/// `#` begins a comment. Each of PBS, LSF and Cobalt writes the last form. \throws Error (usage) with file and line.
Allocation parse_hostfile(std::string_view text, const std::string& file);

/// Names of a list of Slurm's: `n[1-3,07],login` -> n1, n2, n3, n07, login. \throws Error (usage) that quotes it.
std::vector<std::string> parse_slurm_nodes(std::string_view list);

/// Numbers of a list of Slurm's, a node each: `2(x3),1` -> 2, 2, 2, 1. \throws Error (usage) that quotes it.
std::vector<int> parse_slurm_counts(std::string_view list);

/// Pairs as LSF writes them, `a 4 b 4`, or HPC Pack with their number before them. \throws Error (usage) that quotes it
/// with `variable`, which holds it.
Allocation parse_host_pairs(std::string_view list, const std::string& variable);

/// Lines of Grid Engine's: `HOST SLOTS QUEUE PROCESSORS`, one for each queue of a host, whose slots are added up.
/// \throws Error (usage) with file and line.
Allocation parse_grid_engine_hosts(std::string_view text, const std::string& file);

/// Names with white space, commas or semicolons between them, or as JSON's list of strings. Each time that a host is
/// named it has `slots` more. \throws Error (usage) that quotes it with `variable`, which holds it.
Allocation parse_names(std::string_view list, std::string_view variable, int slots);

}  // namespace hbench
