#include "collectives/transport/host_place.hpp"

#include <unistd.h>

#include <array>
#include <map>
#include <vector>

#include "collectives/transport/posted_message.hpp"
#include "collectives/transport/wait.hpp"

namespace hbench {
namespace {

/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and no tag of the training engine's.
constexpr int kTag = 900;

using HostName = std::array<char, 256>;

void await(Transport& transport, Transport::Request request, Rank peer, Seconds timeout) {
  PostedMessage message(transport, request, peer);
  wait_for(message, timeout, "while ranks join");
}

HostName own_name() {
  HostName name{};
  gethostname(name.data(), name.size() - 1);
  return name;
}

/// Rank 0 gathers the host names of all ranks and sends each rank its place.
HostPlace lead(Transport& transport, Seconds timeout) {
  std::vector<HostPlace> places(static_cast<std::size_t>(transport.size()));
  std::map<HostName, int> seen{{own_name(), 1}};
  for (Rank rank = 1; rank < transport.size(); ++rank) {
    HostName name{};
    await(transport, transport.receive(rank, kTag, as_message(name)), rank, timeout);
    places[static_cast<std::size_t>(rank)].rank = seen[name]++;
  }
  for (Rank rank = 0; rank < transport.size(); ++rank) {
    HostPlace& place = places[static_cast<std::size_t>(rank)];
    place.hosts = static_cast<int>(seen.size());
    if (rank > 0) await(transport, transport.send(rank, kTag, as_message(place)), rank, timeout);
  }
  return places.front();
}

}  // namespace

HostPlace find_host_place(Transport& transport, Seconds timeout) {
  if (transport.rank() == 0) return lead(transport, timeout);
  HostName name = own_name();
  HostPlace place;
  await(transport, transport.send(0, kTag, as_message(name)), 0, timeout);
  await(transport, transport.receive(0, kTag, as_message(place)), 0, timeout);
  return place;
}

void share_from_first(Transport& transport, std::span<std::byte> message, Seconds timeout) {
  if (transport.rank() > 0) return await(transport, transport.receive(0, kTag, message), 0, timeout);
  for (Rank rank = 1; rank < transport.size(); ++rank)
    await(transport, transport.send(rank, kTag, message), rank, timeout);
}

}  // namespace hbench
