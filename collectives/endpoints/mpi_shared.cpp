#include <unistd.h>

#include <array>

#include "collectives/endpoints/shared_endpoint.hpp"
#include "collectives/transport/mpi_support.hpp"
#include "collectives/transport/shared_segment.hpp"

namespace hbench {
namespace {

/// The communicator of the ranks of one host, used during start-up.
class HostCommunicator {
 public:
  explicit HostCommunicator(int ranks_per_host) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm shared = MPI_COMM_NULL;
    succeed(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared),
            "MPI_Comm_split_type");
    const int host = ranks_per_host > 0 ? rank / ranks_per_host : 0;
    succeed(MPI_Comm_split(shared, host, rank, &handle_), "MPI_Comm_split");
    MPI_Comm_free(&shared);
  }
  ~HostCommunicator() { MPI_Comm_free(&handle_); }
  HostCommunicator(const HostCommunicator&) = delete;
  HostCommunicator& operator=(const HostCommunicator&) = delete;

  MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

Hosts find_hosts(MPI_Comm host) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Hosts hosts;
  MPI_Comm_rank(MPI_COMM_WORLD, &hosts.rank);
  std::vector<Rank> all;
  for (Rank rank = 0; rank < ranks; ++rank) all.push_back(rank);
  hosts.local.resize(all.size());
  MPI_Group world_group = MPI_GROUP_NULL;
  MPI_Group host_group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  MPI_Comm_group(host, &host_group);
  succeed(MPI_Group_translate_ranks(world_group, ranks, all.data(), host_group, hosts.local.data()),
          "MPI_Group_translate_ranks");
  MPI_Group_free(&world_group);
  MPI_Group_free(&host_group);
  for (Rank& rank : hosts.local)
    if (rank == MPI_UNDEFINED) rank = -1;
  return hosts;
}

/// The first rank of the host creates the mapping and the others open it; afterwards no process can.
std::shared_ptr<SharedMemory> share_memory(MPI_Comm host, const Hosts& hosts) {
  const int ranks = hosts.local_ranks();
  const std::size_t bytes = SharedSegment::bytes(ranks, SharedSegment::good_part(ranks));
  std::array<int, 2> source{};  // process and handle
  std::shared_ptr<SharedMemory> memory;
  const bool first = hosts.local[static_cast<std::size_t>(hosts.rank)] == 0;
  if (first) {
    memory = std::make_shared<SharedMemory>(SharedMemory::create(bytes));
    source = {getpid(), memory->handle()};
  }
  succeed(MPI_Bcast(source.data(), 2, MPI_INT, 0, host), "MPI_Bcast");
  if (!first) memory = std::make_shared<SharedMemory>(SharedMemory::open(source[0], source[1], bytes));
  succeed(MPI_Barrier(host), "MPI_Barrier");
  memory->close_handle();
  return memory;
}

}  // namespace

Availability shm_availability() { return SharedMemory::availability(); }

std::unique_ptr<Endpoint> make_shm_endpoint(int ranks_per_host) {
  std::unique_ptr<Endpoint> outer = make_mpi_endpoint();
  const HostCommunicator host(ranks_per_host);
  const Hosts hosts = find_hosts(host.handle());
  std::shared_ptr<SharedMemory> memory = share_memory(host.handle(), hosts);
  return make_shared_endpoint(std::move(memory), hosts, std::move(outer));
}

}  // namespace hbench
