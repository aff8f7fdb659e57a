#include "bench/launch/launcher.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bench/launch/installation.hpp"
#include "bench/worker/rank_resources.hpp"

namespace hbench {
namespace {

constexpr const char* kProgram = "mpiexec.hydra";

std::vector<std::string> mpich_argv(const Job& job) {
  // Hydra starts more ranks than cores, and root's, without being asked. Where it cannot resolve this host's name,
  // Intel MPI's would make a job of each rank, were its address not given.
  std::vector<std::string> argv{kProgram,   "-iface", "lo", "-hosts", "127.0.0.1", "-n", std::to_string(job.processes),
                                "-bind-to", "none"};
  argv.insert(argv.end(), job.worker.begin(), job.worker.end());
  return argv;
}

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// Ranks of one host after another, each run of them as an own part of the command line: only so are ranks where we
/// want them whatever Open MPI's rules for mapping are. What is given to one part is not given to the next. A host's
/// slots are those of all of its parts.
void append_parts(Words& argv, const Job& job) {
  std::map<std::string, int> slots;
  for (const std::string& host : job.host_of_rank) ++slots[host];
  for (std::size_t first = 0; first < job.host_of_rank.size();) {
    const std::string& host = job.host_of_rank[first];
    std::size_t end = first;
    while (end < job.host_of_rank.size() && job.host_of_rank[end] == host) ++end;
    if (first > 0) argv.push_back(":");
    append(argv, {"-n", std::to_string(end - first), "-H", fmt::format("{}:{}", host, slots[host])});
    for (const std::string& name : job.forwarded) append(argv, {"-x", name});
    append(argv, job.worker);
    first = end;
  }
}

Words mpirun_argv(const Job& job) {
  const bool here = job.host_of_rank.empty();
  Words argv{"mpirun"};
  if (here) append(argv, {"-n", std::to_string(job.processes)});
  // Workers choose their cores themselves, the same way with and without a launcher.
  append(argv, {"--bind-to", "none"});
  if (here && job.oversubscribed) argv.push_back("--oversubscribe");
  // Without this option Open MPI refuses to run as root; a container's only user is often root.
  if (job.as_root) argv.push_back("--allow-run-as-root");
  if (here) {
    append(argv, job.worker);
    return argv;
  }
  // Both for messages of ranks and for those of the launcher's daemons.
  if (!job.network.empty())
    append(argv, {"--mca", "btl_tcp_if_include", job.network, "--mca", "oob_tcp_if_include", job.network});
  append_parts(argv, job);
  return argv;
}

/// So that a daemon whose host is cut off from us ends its ranks after some 20 s, and not after eight minutes.
constexpr std::array<std::pair<const char*, const char*>, 3> kKeepAlive{{{"OMPI_MCA_oob_tcp_keepalive_time", "10"},
                                                                         {"OMPI_MCA_oob_tcp_keepalive_intvl", "5"},
                                                                         {"OMPI_MCA_oob_tcp_keepalive_probes", "2"}}};

/// Both for Open MPI 4 (vader) and 5 (sm), which ignore what they do not know. Session folders follow TMPDIR. Open MPI
/// 4 breaks lines of ranks into pieces, and tags say whose each is; 5 passes on whole lines.
std::map<std::string, std::string> mpirun_environment(const JobPaths& paths) {
  std::map<std::string, std::string> variables{{"TMPDIR", paths.temporary}, {"OMPI_MCA_orte_tag_output", "1"}};
  for (const auto& [name, value] : kKeepAlive) variables.emplace(name, value);
  if (!paths.shared_memory.empty())
    for (const char* name : kBackingFolderVariables) variables.emplace(name, paths.shared_memory);
  return variables;
}

std::size_t hosts_among(std::vector<std::string> names) {
  std::ranges::sort(names);
  return static_cast<std::size_t>(std::ranges::unique(names).begin() - names.begin());
}

/// Open MPI of Debian and of most sites speaks PMIx. Hosts are asked at once, and a step may still be ending when the
/// next one begins: steps share what the job has. The environment is passed on as a whole.
std::vector<std::string> srun_argv(const Job& job) {
  std::vector<std::string> argv{"srun",
                                "--mpi=pmix",
                                "--overlap",
                                "--kill-on-bad-exit=1",
                                "--cpu-bind=none",
                                fmt::format("--ntasks={}", job.processes)};
  if (job.oversubscribed || !job.host_of_rank.empty()) argv.emplace_back("--overcommit");
  if (!job.host_of_rank.empty()) {
    argv.push_back(fmt::format("--nodes={}", hosts_among(job.host_of_rank)));
    argv.emplace_back("--distribution=arbitrary");
    // A host once for each of its ranks, in their order: what `n1*2` is taken for depends on Slurm's version.
    argv.push_back(fmt::format("--nodelist={}", fmt::join(job.host_of_rank, ",")));
  }
  if (!job.network.empty()) argv.insert(argv.end(), {"env", "OMPI_MCA_btl_tcp_if_include=" + job.network});
  argv.insert(argv.end(), job.worker.begin(), job.worker.end());
  return argv;
}

std::map<std::string, std::string> srun_environment(const JobPaths& paths) {
  std::map<std::string, std::string> variables;
  if (!paths.shared_memory.empty())
    for (const char* name : kBackingFolderVariables) variables.emplace(name, paths.shared_memory);
  return variables;
}

constexpr Launcher kLocalLauncher{
    .name = "local",
    .summary = "one process, started directly: the baseline without communication",
    .availability = [](std::string_view) { return Availability{}; },
    .argv = [](const Job& job) { return job.worker; },
};

constexpr Launcher kMpichLauncher{
    .name = "mpich",
    .summary = "Hydra of MPICH and Intel MPI on this host, for peers of hbench collective --peers",
    .optional = true,
    .availability =
        [](std::string_view path) { return program_availability(kProgram, path, "install MPICH (Debian: mpich)"); },
    .argv = mpich_argv,
};

constexpr Launcher kMpirunLauncher{
    .name = "mpirun",
    .summary = "Open MPI's mpirun, on this host or on those of -H, --hostfile or an engine",
    .availability =
        [](std::string_view path) {
          return program_availability("mpirun", path, "install Open MPI (Debian: openmpi-bin)");
        },
    .argv = mpirun_argv,
    // Open MPI 4.1.4 needs 36 for 2 ranks, 64 for 8 and 100 for 16; with fewer it hangs or crashes.
    .open_files = [](int processes) { return 32 + 5 * processes; },
    .environment = mpirun_environment,
};

constexpr Launcher kSrunLauncher{
    .name = "srun",
    .summary = "Slurm's srun inside a job, for sites that forbid mpirun (--launcher srun)",
    .optional = true,
    .availability =
        [](std::string_view path) {
          return program_availability("srun", path, "run inside a Slurm job, or use --launcher mpirun");
        },
    .argv = srun_argv,
    .environment = srun_environment,
};

constexpr std::array kLaunchers{&kLocalLauncher, &kMpirunLauncher, &kSrunLauncher, &kMpichLauncher};

}  // namespace

std::span<const Launcher* const> launchers() { return kLaunchers; }

}  // namespace hbench
