// How the ranks of a job find each other for NCCL: threads of one process, or processes of an MPI job.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/cuda/nccl_endpoint.hpp"
#include "collectives/executors/cuda.hpp"
#include "collectives/executors/cuda_endpoints.hpp"
#include "collectives/executors/nccl.hpp"

namespace hbench {
namespace {

/// Ranks build their communicators together, which takes seconds on many GPUs.
constexpr Seconds kSetupTimeout{120};
constexpr std::chrono::milliseconds kNap{1};
/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and no tag of the training engine's.
constexpr int kTag = 900;

/// Where a rank is, told to rank 0.
using HostName = std::array<char, 256>;

/// What rank 0 answers.
struct Place {
  ncclUniqueId job;
  int among_host = 0;  ///< the rank's number among those of its host
};

void await(Transport& transport, Transport::Request request, Rank peer) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(kSetupTimeout.value);
  while (!transport.test(request)) {
    if (std::chrono::steady_clock::now() > deadline)
      throw Error(ExitCode::lost_rank,
                  fmt::format("rank {} waited {:.0f} s for rank {} to join NCCL's job", transport.rank(),
                              kSetupTimeout.value, peer),
                  "see what that rank said last");
    std::this_thread::sleep_for(kNap);
  }
}

template <class T>
std::span<std::byte> bytes_of(T& message) {
  return std::as_writable_bytes(std::span(&message, 1));
}

HostName host_name() {
  HostName name{};
  gethostname(name.data(), name.size() - 1);
  return name;
}

/// Rank 0's part: hears where all are, and tells each its place.
Place lead(Transport& transport) {
  Place own;
  cuda::succeed(ncclGetUniqueId(&own.job), "beginning NCCL's job");
  std::map<HostName, int> seen{{host_name(), 1}};
  for (Rank rank = 1; rank < transport.size(); ++rank) {
    HostName name{};
    await(transport, transport.receive(rank, kTag, bytes_of(name)), rank);
    Place place{own.job, seen[name]++};
    await(transport, transport.send(rank, kTag, bytes_of(place)), rank);
  }
  return own;
}

Place follow(Transport& transport) {
  HostName name = host_name();
  Place place;
  await(transport, transport.send(0, kTag, bytes_of(name)), 0);
  await(transport, transport.receive(0, kTag, bytes_of(place)), 0);
  return place;
}

void require_nccl() {
  const Availability availability = nccl_availability();
  if (!availability.available) throw Error(ExitCode::environment, availability.reason, availability.cure);
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
  auto threads = make_cuda_endpoints(ranks);
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
  const Place place = transport.rank() == 0 ? lead(transport) : follow(transport);
  const int gpu = gpu_of(place.among_host);
  auto communicator = cuda::make_nccl_communicator(
      {place.job, transport.rank(), transport.size(), gpu, place.among_host >= cuda_devices()}, kSetupTimeout);
  const std::shared_ptr<Endpoint> inner(&home, [](Endpoint*) {});
  return cuda::make_nccl_endpoint(inner, make_cuda_device(gpu), std::move(communicator));
}

}  // namespace hbench
