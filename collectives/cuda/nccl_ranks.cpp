// How the ranks of a job find each other for NCCL: threads of one process, or processes of an MPI job.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/cuda/nccl_endpoint.hpp"
#include "collectives/transport/host_place.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

void require_nccl() {
  const Availability availability = nccl_availability();
  if (!availability.available) throw availability.error();
}

}  // namespace

Availability nccl_availability() { return cuda_availability(); }

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int ranks) {
  require_nccl();
  // Not the endpoints of `cuda`: NCCL needs no GPU that reaches another's memory.
  auto threads = make_thread_endpoints(ranks, [](Rank rank) { return make_cuda_device(gpu_of(rank)); });
  const auto communicators = cuda::make_nccl_communicators(ranks, cuda_devices(), kSetupTimeout);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    const std::shared_ptr<Endpoint> inner = std::move(threads[rank]);
    const std::shared_ptr<Device> device(inner, &inner->device());  // lives as long as its endpoint
    endpoints.push_back(cuda::make_nccl_endpoint(inner, device, communicators[rank]));
  }
  return endpoints;
}

std::unique_ptr<Endpoint> make_nccl_endpoint(Endpoint& home) {
  require_nccl();
  Transport& transport = home.control();
  const HostPlace place = find_host_place(transport, kSetupTimeout);
  ncclUniqueId job{};
  if (transport.rank() == 0) cuda::succeed(ncclGetUniqueId(&job), "beginning NCCL's job");
  share_from_first(transport, as_message(job), kSetupTimeout);
  const int gpu = gpu_of(place.rank);
  auto communicator = cuda::make_nccl_communicator(
      {job, transport.rank(), transport.size(), gpu, (place.most + cuda_devices() - 1) / cuda_devices()},
      kSetupTimeout);
  const std::shared_ptr<Endpoint> inner(&home, [](Endpoint*) {});
  return cuda::make_nccl_endpoint(inner, make_cuda_device(gpu), std::move(communicator));
}

}  // namespace hbench
