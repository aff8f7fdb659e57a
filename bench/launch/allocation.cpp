#include "bench/launch/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>
#include <string_view>

#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Hosts in a sentence.
constexpr std::size_t kShownHosts = 16;

bool is_this_machine(const std::string& name) {
  return name == "localhost" || short_host_name(name) == short_host_name(own_host_name());
}

/// Returns the number of ranks on node `node`: its share of the workers, and every `ranks.nodes`-th server.
int ranks_on(const RankCount& ranks, int node) {
  return ranks.workers / ranks.nodes + ranks.servers / ranks.nodes + (node < ranks.servers % ranks.nodes ? 1 : 0);
}

/// Gives an environment variable; null where it is not set or empty.
class Variables {
 public:
  explicit Variables(const ReadVariable& variable) : variable_(variable) {}
  const char* operator[](const std::string& name) const {
    const char* const text = variable_(name.c_str());
    return text != nullptr && *text != '\0' ? text : nullptr;
  }
  /// 0 where it is none. Of a range (`1:4`, as PyTorch's elastic jobs have it) the most.
  int number(const char* name) const {
    const char* const text = (*this)[name];
    if (text == nullptr) return 0;
    const std::string_view range = text;
    return parse_number<int>(range.substr(range.rfind(':') + 1)).value_or(0);
  }

 private:
  const ReadVariable& variable_;
};

constexpr const char *kSlurmNodes = "SLURM_JOB_NODELIST", *kFluxNodes = "FLUX_JOB_NNODES";
constexpr const char* kNameThem = "name the hosts with -H or --hostfile";

/// Returns the GPUs of a host of the job, as its engine says; 0 where it does not.
int gpus_of_a_host(const Variables& variables) {
  return std::max(variables.number("SLURM_GPUS_ON_NODE"), variables.number("SLURM_GPUS_PER_NODE"));
}

/// Of a heterogeneous job mpirun and srun know one group alone: mpirun refuses all other hosts as long as it sees that
/// it is inside of Slurm.
std::string note_of_groups(const Variables& variables) {
  const char* const second = variables["SLURM_JOB_NODELIST_HET_GROUP_1"];
  const int groups = variables.number("SLURM_HET_SIZE");
  if (groups < 2 && second == nullptr) return "";
  return fmt::format(
      "{}: hosts of the job's other groups are not used, as Slurm starts ranks in the first alone: ask it for one "
      "group, or name all hosts with -H under 'env -u SLURM_JOBID -u SLURM_JOB_ID', which makes mpirun use ssh",
      second != nullptr ? fmt::format("SLURM_JOB_NODELIST_HET_GROUP_1={}", second)
                        : fmt::format("SLURM_HET_SIZE={}", groups));
}

Allocation slurm_allocation(const Variables& variables) {
  // A heterogeneous job has variables for each group, and not always those without a group.
  const auto of_first_group = [&](const std::string& name) {
    const char* const text = variables[name];
    return text != nullptr ? text : variables[name + "_HET_GROUP_0"];
  };
  const char* const nodes = of_first_group(kSlurmNodes);
  if (nodes == nullptr) return {};
  const char* const job = of_first_group("SLURM_JOB_ID");
  Allocation allocation{.hosts = {}, .origin = fmt::format("Slurm's job {}", job != nullptr ? job : "?")};
  const std::vector<std::string> names = parse_slurm_nodes(nodes);
  // What mpirun counts as slots in a job; cores where a job asked for no tasks.
  constexpr std::array kCounts{"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"};
  std::vector<int> counts;
  for (const char* name : kCounts)
    if (const char* text = of_first_group(name); text != nullptr && counts.empty()) counts = parse_slurm_counts(text);
  if (counts.empty()) counts.assign(names.size(), 1);
  if (counts.size() != names.size())
    throw Error(ExitCode::usage,
                fmt::format("Slurm names {} nodes and the tasks of {}: '{}'", names.size(), counts.size(), nodes),
                kNameThem);
  HostList list;
  for (std::size_t i = 0; i < names.size(); ++i) list.add(names[i], counts[i]);
  allocation.hosts = list.take();
  allocation.note = note_of_groups(variables);
  return allocation;
}

/// A variable with a file of hosts, most often a line for each slot, and who sets it. Those of Open MPI, Intel MPI and
/// MPICH name a default host file (MPIJobs and the agent of Spark set them).
struct FileVariable {
  const char *name, *origin;
  Allocation (*parse)(std::string_view text, const std::string& file) = parse_hostfile;
  bool is_file = true;  ///< else the variable has what such a file has
};
constexpr std::array kFileVariables{FileVariable{"OMPI_MCA_orte_default_hostfile", ""},
                                    FileVariable{"PRTE_MCA_prte_default_hostfile", ""},
                                    FileVariable{"I_MPI_HYDRA_HOST_FILE", ""},
                                    FileVariable{"HYDRA_HOST_FILE", ""},
                                    FileVariable{"OAR_NODEFILE", "OAR's job"},
                                    FileVariable{"PJM_O_NODEINF", "PJM's job"},
                                    FileVariable{"LSB_DJOB_HOSTFILE", "LSF's job"},
                                    FileVariable{"PBS_NODEFILE", "PBS's job"},
                                    FileVariable{"COBALT_NODEFILE", "Cobalt's job"},
                                    FileVariable{"PE_HOSTFILE", "Grid Engine's job", parse_grid_engine_hosts},
                                    FileVariable{"LSB_MCPU_HOSTS", "LSF's job", parse_host_pairs, false},
                                    FileVariable{"CCP_NODES", "HPC Pack's job", parse_host_pairs, false}};

Allocation of_file(const FileVariable& variable, const std::string& file) {
  std::string text;
  try {
    text = variable.is_file ? read_file(file) : file;
  } catch (const Error& error) {
    throw Error(ExitCode::environment, fmt::format("{}: {}", variable.name, error.what()), kNameThem);
  }
  Allocation allocation = variable.parse(text, variable.is_file ? file : variable.name);
  if (*variable.origin != '\0') allocation.origin = variable.origin;
  return allocation;
}

/// A variable with a list of hosts, and those that say more of them; empty where there are none.
struct ListVariable {
  const char* name;
  const char* slots;  ///< of each host
  const char* own;    ///< the rank of this host in the list, or its name
  const char* origin;
};
constexpr std::array kListVariables{
    ListVariable{"LSB_HOSTS", "", "", "LSF's job"},
    ListVariable{"SKYPILOT_NODE_IPS", "SKYPILOT_NUM_GPUS_PER_NODE", "SKYPILOT_NODE_RANK", "SkyPilot's job"},
    ListVariable{"SM_HOSTS", "SM_NUM_GPUS", "SM_CURRENT_HOST", "SageMaker's job"},
    ListVariable{"DSTACK_NODES_IPS", "DSTACK_GPUS_PER_NODE", "DSTACK_NODE_RANK", "dstack's job"},
    ListVariable{"SM_RESOURCE_CONFIG", "SM_NUM_GPUS", "SM_CURRENT_HOST", "SageMaker's job"},
    ListVariable{"VC_MPIWORKER_HOSTS", "", "VC_TASK_INDEX", "Volcano's job"},
    ListVariable{"VC_WORKER_HOSTS", "", "VC_TASK_INDEX", "Volcano's job"},
    ListVariable{"MLP_WORKER_ALL_HOSTS", "MLP_WORKER_GPU", "MLP_ROLE_INDEX", "Volcengine's job"},
    ListVariable{"AZ_BATCH_HOST_LIST", "", "", "Azure Batch's task"},
    ListVariable{"AZ_BATCH_NODE_LIST", "", "NODE_RANK", "Azure Batch's task"}};

/// Clouds start a command on all of their hosts, and hosts may have addresses for names: one alone is this machine. The
/// list may be that of the key `hosts` of an object.
Allocation of_list(const Variables& variables, const ListVariable& variable, const char* text) {
  const nlohmann::json config = read_json(text);
  const auto hosts = config.is_object() ? config.find("hosts") : config.end();
  const bool is_list = hosts != config.end() && hosts->is_array();
  Allocation allocation =
      parse_names(is_list ? hosts->dump() : text, variable.name, std::max(1, variables.number(variable.slots)));
  allocation.origin = variable.origin;
  if (allocation.hosts.size() == 1) return {};
  const char* const own = variables[variable.own];
  if (own != nullptr && std::string_view(own) != "0" && own != allocation.hosts.front().name)
    allocation.note =
        fmt::format("{}={}: run this on the job's first host alone, or sweeps of several hosts disturb each other",
                    variable.own, own);
  return allocation;
}

/// Slots of a host that a job has as a whole are hardly fewer.
constexpr int kWholeHost = 16;

/// On systems with launch nodes (CSM, jsrun) a job's first host is one, with one slot; the job has the others as a
/// whole, equally many slots on each. An ordinary job may find one free slot on its first host too, but then it has a
/// part of its last.
void leave_launch_node_out(Allocation& job) {
  if (job.hosts.size() < 2) return;
  const AllocatedHost first = job.hosts.front();
  const std::span others = std::span(job.hosts).subspan(1);
  const int slots = others.front().slots;
  if (first.slots != 1 || slots < (others.size() > 1 ? 2 : kWholeHost) ||
      !std::ranges::all_of(others, [&](const AllocatedHost& host) { return host.slots == slots; }))
    return;
  job.hosts.erase(job.hosts.begin());
  job.note = fmt::format(
      "{} has 1 slot and each other host {}: it is left out as LSF's launch node; to use it, name all hosts with -H "
      "or --hostfile",
      first.name, slots);
}

Allocation flux_allocation(const std::function<std::string()>& ask_flux) {
  if (const std::string hosts = ask_flux(); !hosts.empty()) {
    Allocation allocation = parse_host_list(hosts);
    allocation.origin = "Flux's job";
    return allocation;
  }
  return {.hosts = {},
          .note =
              "`flux hostlist` does not name the hosts of Flux's job: this machine alone is used; give them: -H "
              "a:4,b:4"};
}

/// A variable with the number of a job's nodes, where no other names them, and one that must be there too where its
/// name alone says little. `here`: those on this node, where it counts processes.
struct CountVariable {
  const char *name, *origin, *beside = name, *here = "";
};
constexpr std::array kCountVariables{
    CountVariable{"GROUP_WORLD_SIZE", "a job of torchrun"},
    CountVariable{"PET_NNODES", "a job of PyTorch"},
    CountVariable{"AWS_BATCH_JOB_NUM_NODES", "a job of AWS Batch"},
    CountVariable{"AZUREML_NODE_COUNT", "a job of Azure ML"},
    CountVariable{"LWS_GROUP_SIZE", "a LeaderWorkerSet"},
    CountVariable{"MA_NUM_HOSTS", "a job of ModelArts"},
    CountVariable{"NGC_ARRAY_SIZE", "a job of Base Command"},
    CountVariable{"NNODES", "a job of PyTorch", "NODE_RANK"},
    CountVariable{"NUM_NODES", "a job of PyTorch", "NODE_RANK"},
    CountVariable{"HOROVOD_SIZE", "a job of Horovod", "HOROVOD_SIZE", "HOROVOD_LOCAL_SIZE"}};

/// Those of TFJobs and of Vertex AI: `{"cluster": {"worker": ["a:2222", "b:2222"]}}`, by the names of hosts.
int hosts_of_cluster(const char* text) {
  std::set<std::string> hosts;
  const nlohmann::json config = read_json(text);
  const auto cluster = config.find("cluster");
  if (cluster == config.end()) return 0;
  for (const nlohmann::json& tasks : *cluster)
    for (const nlohmann::json& task : tasks)
      if (const auto* address = task.get_ptr<const std::string*>(); address != nullptr)
        hosts.insert(address->substr(0, address->rfind(':')));
  return static_cast<int>(hosts.size());
}

/// The number of processes that PyTorch's variables have beside those of this machine; 0 where they count nodes, or all
/// processes meet here.
int processes_elsewhere(const Variables& variables) {
  const std::string_view master = variables["MASTER_ADDR"] == nullptr ? "" : variables["MASTER_ADDR"];
  const bool is_here = master == "localhost" || master.starts_with("127.") || master == "::1";
  const bool of_pytorch =
      !master.empty() && !is_here && (variables["RANK"] != nullptr || variables["NODE_RANK"] != nullptr);
  const bool counts_nodes = variables["GROUP_WORLD_SIZE"] != nullptr || variables["PET_NNODES"] != nullptr;
  const int processes = variables.number("WORLD_SIZE");
  if (!of_pytorch || counts_nodes || processes <= 0) return 0;
  return processes - std::max(1, variables.number("LOCAL_WORLD_SIZE"));
}

/// A job that has other hosts, of which we do not know how to reach them.
Allocation without_names(const Variables& variables) {
  const auto job = [](const char* name, const auto& said, std::string_view origin) {
    return Allocation{.hosts = {},
                      .note = fmt::format("{} says {}: the other hosts of {} are not used, as no variable has names "
                                          "that ssh reaches; name them with -H or --hostfile",
                                          name, said, origin)};
  };
  for (const CountVariable& each : kCountVariables)
    if (const int nodes = variables.number(each.name);
        nodes > std::max(1, variables.number(each.here)) && variables[each.beside] != nullptr)
      return job(each.name, nodes, each.origin);
  if (processes_elsewhere(variables) > 0) return job("WORLD_SIZE", variables.number("WORLD_SIZE"), "a job of PyTorch");
  // Vertex AI has both.
  for (const auto& [name, origin] :
       {std::pair{"CLUSTER_SPEC", "a job of Vertex AI"}, {"TF_CONFIG", "a job of TensorFlow"}})
    if (const char* text = variables[name])
      if (const int hosts = hosts_of_cluster(text); hosts > 1) return job(name, hosts, origin);
  if (const char* address = variables["RAY_ADDRESS"]) return job("RAY_ADDRESS", address, "a cluster of Ray");
  return {};
}

/// The hosts of the job around us, as the tables above and Slurm and Flux have them; none where there is no job, or one
/// that names no other hosts. A note says which hosts of the job are not used. \throws Error
/// (environment) for a file of hosts that cannot be read, Error (usage) for a list that is none.
Allocation surrounding_job(const ReadVariable& variable, const std::function<std::string()>& ask_flux) {
  const Variables variables(variable);
  Allocation job = slurm_allocation(variables);
  if (!job.is_local()) return job;
  for (const FileVariable& each : kFileVariables)
    if (const char* file = variables[each.name]; file != nullptr && job.is_local()) job = of_file(each, file);
  for (const ListVariable& each : kListVariables)
    if (const char* text = variables[each.name]; text != nullptr && job.is_local())
      job = of_list(variables, each, text);
  if (job.origin == "LSF's job") leave_launch_node_out(job);
  if (!job.is_local()) return job;
  const bool in_flux = variables["FLUX_URI"] != nullptr || variables["FLUX_JOB_ID"] != nullptr;
  if (const int nodes = variables.number(kFluxNodes); nodes > 1 || (nodes == 0 && in_flux))
    return flux_allocation(ask_flux);
  return without_names(variables);
}

/// The names of the variables that `surrounding_job` takes hosts from, in words.
std::string variables_with_hosts() {
  std::string names = kSlurmNodes;
  for (const FileVariable& each : kFileVariables) names += fmt::format(", {}", each.name);
  for (const ListVariable& each : kListVariables) names += fmt::format(", {}", each.name);
  return fmt::format("{} and {}", names, kFluxNodes);
}

[[noreturn]] void refuse_few_hosts(const Allocation& allocation, int expected) {
  const std::string why = !allocation.note.empty() ? "; " + allocation.note
                          : allocation.is_local()  ? "; looked at " + variables_with_hosts()
                                                   : "";
  throw Error(ExitCode::environment,
              fmt::format("--expect-hosts {}: the job has {}{}", expected,
                          allocation.is_local() ? "this machine alone" : allocation.in_words(), why),
              "see why the engine's list of hosts does not reach this command, or name them with -H or --hostfile");
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

std::string note_of_idle_gpus(const Allocation& job, int gpus) {
  const auto host = std::ranges::find_if(job.hosts, [&](const AllocatedHost& each) { return each.slots < gpus; });
  if (host == job.hosts.end()) return "";
  return fmt::format(
      "{0} has {1} and {2} GPUs, of which only {3} can be used: ask for {2} tasks on each host (Slurm: "
      "--ntasks-per-node={2}, PBS Pro: mpiprocs={2})",
      host->name, counted(host->slots, "slot"), gpus, host->slots);
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
    allocation = parse_hostfile(read_file(flags.hostfile), flags.hostfile.string());
  } else {
    allocation = surrounding_job(variable, ask_flux);
    allocation.gpus = gpus_of_a_host(Variables(variable));
    if (allocation.note.empty()) allocation.note = note_of_idle_gpus(allocation, *allocation.gpus);
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
