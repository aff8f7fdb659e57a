#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/launch/find_program.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/worker/backing_folders.hpp"

namespace hbench {
namespace {

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

}  // namespace

extern const Launcher kMpirunLauncher;
constinit const Launcher kMpirunLauncher{
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

}  // namespace hbench
