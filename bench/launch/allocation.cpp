#include "bench/launch/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/host_name.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Hosts in a sentence.
constexpr std::size_t kShownHosts = 16;

/// Gives an environment variable; null where it is not set or empty.
class Variables {
 public:
  explicit Variables(const ReadVariable& variable) : variable_(variable) {}
  const char* operator[](const char* name) const {
    const char* const text = variable_(name);
    return text != nullptr && *text != '\0' ? text : nullptr;
  }
  int number(const char* name) const {
    const char* const text = (*this)[name];
    return text != nullptr ? parse_number<int>(text).value_or(0) : 0;
  }

 private:
  const ReadVariable& variable_;
};

constexpr const char *kSlurmNodes = "SLURM_JOB_NODELIST", *kLsfHosts = "LSB_MCPU_HOSTS",
                     *kFluxNodes = "FLUX_JOB_NNODES";

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

/// A variable with a file of hosts, a line for each slot, and who sets it. Open MPI's own name a default host file
/// (MPIJobs and the agent of Spark set them).
struct FileVariable {
  const char *name, *origin;
};
constexpr std::array kFileVariables{
    FileVariable{"OMPI_MCA_orte_default_hostfile", ""}, FileVariable{"PRTE_MCA_prte_default_hostfile", ""},
    FileVariable{"LSB_DJOB_HOSTFILE", "LSF's job"}, FileVariable{"PBS_NODEFILE", "PBS's job"},
    FileVariable{"COBALT_NODEFILE", "Cobalt's job"}};

Allocation flux_allocation(int nodes, const std::function<std::string()>& ask_flux) {
  if (const std::string hosts = ask_flux(); !hosts.empty()) {
    Allocation allocation = parse_host_list(hosts);
    allocation.origin = "Flux's job";
    return allocation;
  }
  return {.hosts = {},
          .note = fmt::format("Flux's job has {} nodes, and `flux hostlist` does not name them: this machine alone is "
                              "used; give them: -H a:4,b:4",
                              nodes)};
}

/// Of the job in which we are; none where there is none.
Allocation allocation_of_job(const Variables& variables, const std::function<std::string()>& ask_flux) {
  if (const char* nodes = variables[kSlurmNodes]) return slurm_allocation(variables, nodes);
  for (const FileVariable& each : kFileVariables)
    if (const char* file = variables[each.name]) return of_file(file, each.origin);
  if (const char* hosts = variables[kLsfHosts]) return parse_lsf_hosts(hosts);
  if (const int nodes = variables.number(kFluxNodes); nodes > 1) return flux_allocation(nodes, ask_flux);
  return {};
}

[[noreturn]] void refuse_few_hosts(const Allocation& allocation, int expected) {
  std::string where = kSlurmNodes;
  for (const FileVariable& each : kFileVariables) where += fmt::format(", {}", each.name);
  throw Error(ExitCode::environment,
              fmt::format("--expect-hosts {}: the job has {}", expected,
                          allocation.is_local()
                              ? fmt::format("this machine alone; looked at {}, {} and {}", where, kLsfHosts, kFluxNodes)
                              : allocation.in_words()),
              "see why the engine's list of hosts does not reach this command, or name them with -H or --hostfile");
}

bool is_this_machine(const std::string& name) {
  return name == "localhost" || short_host_name(name) == short_host_name(own_host_name());
}

/// Returns the number of ranks on node `node`: its share of the workers, and every `ranks.nodes`-th server.
int ranks_on(const RankCount& ranks, int node) {
  return ranks.workers / ranks.nodes + ranks.servers / ranks.nodes + (node < ranks.servers % ranks.nodes ? 1 : 0);
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

std::string flux_hosts() {
  std::string hosts;
  const Exit exit = run_process({.argv = {"flux", "hostlist", "--expand", "--delimiter=,", "local"},
                                 .environment = {},
                                 .on_line = [&](std::string_view line) { hosts = line; },
                                 .input = "",
                                 .output_timeout = Seconds(10)});
  return exit.code == 0 ? hosts : "";
}

Allocation allocation_of(const HostFlags& flags, const ReadVariable& variable,
                         const std::function<std::string()>& ask_flux) {
  if (!flags.hosts.empty() && !flags.hostfile.empty())
    throw Error(ExitCode::usage, "-H and --hostfile both name hosts", "give one of them");
  Allocation allocation;
  if (!flags.hosts.empty()) {
    allocation = parse_host_list(flags.hosts);
  } else if (!flags.hostfile.empty()) {
    allocation = of_file(flags.hostfile);
  } else {
    allocation = allocation_of_job(Variables(variable), ask_flux);
    if (allocation.hosts.size() == 1 && is_this_machine(allocation.hosts.front().name)) allocation.hosts.clear();
  }
  allocation.launcher = flags.launcher;
  if (std::max<std::ptrdiff_t>(1, std::ssize(allocation.hosts)) < flags.expected)
    refuse_few_hosts(allocation, flags.expected);
  return allocation;
}

RankPlaces place_ranks(const Allocation& allocation, const RankCount& ranks) {
  if (ranks.workers % ranks.nodes != 0)
    return {{}, fmt::format("{} ranks are not equally many on {} nodes", ranks.workers, ranks.nodes)};
  if (allocation.is_local()) {
    if (ranks.nodes > 1) return {{}, "this is one machine; name hosts with -H or --hostfile"};
    return {};
  }
  std::vector<const AllocatedHost*> chosen;
  for (const AllocatedHost& host : allocation.hosts)
    if (std::ssize(chosen) < ranks.nodes && host.slots >= ranks_on(ranks, static_cast<int>(chosen.size())))
      chosen.push_back(&host);
  if (std::ssize(chosen) < ranks.nodes)
    return {{},
            fmt::format("{} with {} each are needed, of {}", counted(ranks.nodes, "host"),
                        counted(ranks_on(ranks, 0), "slot"), allocation.in_words())};
  RankPlaces places;
  for (int rank = 0; rank < ranks.workers; ++rank)
    places.host_of_rank.push_back(chosen[static_cast<std::size_t>(rank / (ranks.workers / ranks.nodes))]->name);
  for (int server = 0; server < ranks.servers; ++server)
    places.host_of_rank.push_back(chosen[static_cast<std::size_t>(server % ranks.nodes)]->name);
  return places;
}

int fewest_nodes(const Allocation& allocation, int workers) {
  for (int nodes = 1; nodes <= std::ssize(allocation.hosts); ++nodes)
    if (workers % nodes == 0 && place_ranks(allocation, {.workers = workers, .nodes = nodes}).refusal.empty())
      return nodes;
  return 0;
}

}  // namespace hbench
