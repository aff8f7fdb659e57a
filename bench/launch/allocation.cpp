#include "bench/launch/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/host_name.hpp"
#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

/// Hosts in a sentence.
constexpr std::size_t kShownHosts = 16;

/// Gives an environment variable; null where it is not set or empty.
class Variables {
 public:
  explicit Variables(const std::function<const char*(const char*)>& variable) : variable_(variable) {}
  const char* operator[](const char* name) const {
    const char* const text = variable_(name);
    return text != nullptr && *text != '\0' ? text : nullptr;
  }
  int number(const char* name) const {
    const char* const text = (*this)[name];
    return text != nullptr ? parse_number<int>(text).value_or(0) : 0;
  }

 private:
  const std::function<const char*(const char*)>& variable_;
};

/// `mpirun` and hbench start as many ranks on a node as the job has tasks there.
std::string note_of_slurm(const Variables& variables, const std::vector<int>& tasks) {
  const int gpus = variables.number("SLURM_GPUS_ON_NODE");
  if (gpus < 2 || variables["SLURM_TASKS_PER_NODE"] == nullptr ||
      !std::ranges::all_of(tasks, [](int n) { return n == 1; }))
    return "";
  return fmt::format(
      "the job has 1 task and {0} GPUs on each node, so 1 GPU of each is used: ask Slurm for --ntasks-per-node={0}",
      gpus);
}

Allocation slurm_allocation(const Variables& variables, const char* nodes) {
  const char* const job = variables["SLURM_JOB_ID"];
  Allocation allocation{.hosts = {}, .origin = fmt::format("Slurm's job {}", job != nullptr ? job : "?")};
  const std::vector<std::string> names = parse_slurm_nodes(nodes);
  // What mpirun counts as slots in a job; cores where a job asked for no tasks.
  constexpr std::array kCounts{"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"};
  std::vector<int> counts;
  for (const char* name : kCounts)
    if (const char* text = variables[name]; text != nullptr && counts.empty()) counts = parse_slurm_counts(text);
  if (counts.empty()) counts.assign(names.size(), 1);
  if (counts.size() != names.size())
    throw Error(ExitCode::usage,
                fmt::format("Slurm names {} nodes and the tasks of {}: '{}'", names.size(), counts.size(), nodes),
                "name the hosts with -H or --hostfile");
  HostList list;
  for (std::size_t i = 0; i < names.size(); ++i) list.add(names[i], counts[i]);
  allocation.hosts = list.take();
  allocation.note = note_of_slurm(variables, counts);
  return allocation;
}

Allocation of_file(const std::filesystem::path& file, const std::string& origin = {}) {
  Allocation allocation = parse_hostfile(read_file(file), file.string());
  if (!origin.empty()) allocation.origin = origin;
  return allocation;
}

/// A variable with a file of hosts, a line for each slot, and who sets it. Open MPI's own names a default host file
/// (MPIJobs and the agents of Spark and Ray set it).
struct FileVariable {
  const char *name, *origin;
};
constexpr std::array kFileVariables{
    FileVariable{"OMPI_MCA_orte_default_hostfile", ""}, FileVariable{"LSB_DJOB_HOSTFILE", "LSF's job"},
    FileVariable{"PBS_NODEFILE", "PBS's job"}, FileVariable{"COBALT_NODEFILE", "Cobalt's job"}};

/// Of the job in which we are; none where there is none.
Allocation allocation_of_job(const Variables& variables) {
  if (const char* nodes = variables["SLURM_JOB_NODELIST"]) return slurm_allocation(variables, nodes);
  for (const FileVariable& each : kFileVariables)
    if (const char* file = variables[each.name]) return of_file(file, each.origin);
  if (const char* hosts = variables["LSB_MCPU_HOSTS"]) return parse_lsf_hosts(hosts);
  Allocation none;
  if (const int nodes = variables.number("FLUX_JOB_NNODES"); nodes > 1)
    none.note = fmt::format(
        "Flux's job has {} nodes, and names them in no variable: this machine alone is used; give "
        "them: -H $(flux hostlist --delimiter=, local)",
        nodes);
  return none;
}

bool is_this_machine(const std::string& name) {
  return name == "localhost" || short_host_name(name) == short_host_name(own_host_name());
}

}  // namespace

int Allocation::slots() const {
  return std::accumulate(hosts.begin(), hosts.end(), 0,
                         [](int sum, const AllocatedHost& host) { return sum + host.slots; });
}

std::string Allocation::in_words() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(hosts.size(), kShownHosts); ++i)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", hosts[i].name, hosts[i].slots);
  if (hosts.size() > kShownHosts) text += fmt::format(" and {} more", hosts.size() - kShownHosts);
  return origin == "-H" ? fmt::format("-H {}", text) : fmt::format("{} ({})", text, origin);
}

Allocation allocation_of(const HostFlags& flags, const std::function<const char*(const char*)>& variable) {
  if (!flags.hosts.empty() && !flags.hostfile.empty())
    throw Error(ExitCode::usage, "-H and --hostfile both name hosts", "give one of them");
  Allocation allocation;
  if (!flags.hosts.empty()) {
    allocation = parse_host_list(flags.hosts);
  } else if (!flags.hostfile.empty()) {
    allocation = of_file(flags.hostfile);
  } else {
    allocation = allocation_of_job(Variables(variable));
    if (allocation.hosts.size() == 1 && is_this_machine(allocation.hosts.front().name)) allocation.hosts.clear();
  }
  allocation.launcher = flags.launcher;
  return allocation;
}

}  // namespace hbench
