#include "bench/worker/rank_resources.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "collectives/base/text.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/transport/host_place.hpp"

namespace hbench {
namespace {

/// The innermost launcher first: a job's script has Slurm's variables, and what it starts inherits them.
constexpr std::array kLocalRanks{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"};

/// Than twice the time-out, after which whoever starts ranks has stopped those that it reaches.
constexpr Seconds kLonger{20};

class ProcessEndpoints final : public RankEndpoints {
 public:
  explicit ProcessEndpoints(Seconds timeout) : home_(make_home(timeout)) {}
  Endpoint& home() override { return *home_; }
  Endpoint& of(std::string_view executor) override {
    const ExecutorKind* kind = find_executor(executor);
    if (kind == nullptr || kind->make_endpoint == nullptr) return *home_;
    auto& made = made_[kind->make_endpoint];
    if (made == nullptr) made = kind->make_endpoint(*home_);
    return *made;
  }

 private:
  static std::unique_ptr<Endpoint> make_home(Seconds timeout) {
    forget_absent_backing_folders();
    if (timeout.value > 0) alarm(static_cast<unsigned>((timeout * 2 + kLonger).value));
    std::unique_ptr<Endpoint> home = make_mpi_endpoint();
    alarm(0);
    return home;
  }

  std::unique_ptr<Endpoint> home_;
  /// By how it is made: executors may share an endpoint.
  std::map<decltype(ExecutorKind::make_endpoint), std::unique_ptr<Endpoint>> made_;
};

}  // namespace

std::optional<int> launched_local_rank(const std::function<const char*(const char*)>& variable) {
  for (const char* name : kLocalRanks) {
    const char* value = variable(name);
    if (value == nullptr) continue;
    if (const int rank = parse_number<int>(value).value_or(-1); rank >= 0) return rank;
  }
  return std::nullopt;
}

int core_of(int local_rank, std::span<const int> cores) {
  return cores[static_cast<std::size_t>(local_rank) % cores.size()];
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cores.push_back(cpu);
  return cores;
}

void pin_to_core(int local_rank) {
  const std::vector<int> cores = allowed_cores();
  if (cores.empty()) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(core_of(local_rank, cores), &chosen);
  sched_setaffinity(0, sizeof chosen, &chosen);
}

void pin_process(Endpoint& endpoint, Seconds timeout) {
  const std::optional<int> launched = launched_local_rank([](const char* name) { return std::getenv(name); });
  pin_to_core(launched ? *launched : find_host_place(endpoint.control(), timeout).rank);
}

void forget_absent_backing_folders() {
  for (const char* name : kBackingFolderVariables) {
    const char* folder = std::getenv(name);
    std::error_code ignored;
    if (folder != nullptr && !std::filesystem::is_directory(folder, ignored)) unsetenv(name);
  }
}

std::unique_ptr<RankEndpoints> make_process_endpoints(Seconds timeout) {
  return std::make_unique<ProcessEndpoints>(timeout);
}

}  // namespace hbench
