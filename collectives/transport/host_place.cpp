#include "collectives/transport/host_place.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <vector>

#include "collectives/base/own_host.hpp"

namespace hbench {
namespace {

/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and nobody else's.
constexpr int kClockTag = 901;
constexpr std::string_view kClocks = "while clocks are compared";
constexpr int kMessages = 10;

/// Rank 0's part with one other.
void compare_with(Rank peer, Transport& transport, const std::function<Seconds()>& now, Seconds timeout) {
  double ahead = 0, quickest = 0;
  for (int i = 0; i < kMessages; ++i) {
    double theirs = 0;
    const Seconds asked = now();
    complete(transport, transport.send(peer, kClockTag, as_message(theirs)), peer, timeout, kClocks);
    complete(transport, transport.receive(peer, kClockTag, as_message(theirs)), peer, timeout, kClocks);
    const Seconds answered = now();
    const double took = (answered - asked).value;
    if (i > 0 && took >= quickest) continue;
    quickest = took;
    ahead = theirs - (asked.value + answered.value) / 2;
  }
  complete(transport, transport.send(peer, kClockTag, as_message(ahead)), peer, timeout, kClocks);
}

/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and no tag of the training engine's.
constexpr int kTag = 900;
constexpr std::string_view kWhat = "while ranks join";

using HostName = std::array<char, 256>;

HostName own_name() {
  HostName name{};
  own_host_name().copy(name.data(), name.size() - 1);
  return name;
}

/// Rank 0 gathers the host names of all ranks and sends each rank its place.
HostPlace lead(Transport& transport, Seconds timeout) {
  std::vector<HostPlace> places(static_cast<std::size_t>(transport.size()));
  std::map<HostName, int> seen{{own_name(), 1}};
  for (Rank rank = 1; rank < transport.size(); ++rank) {
    HostName name{};
    complete(transport, transport.receive(rank, kTag, as_message(name)), rank, timeout, kWhat);
    places[static_cast<std::size_t>(rank)].rank = seen[name]++;
  }
  const int most = std::ranges::max(std::views::values(seen));
  for (Rank rank = 0; rank < transport.size(); ++rank) {
    HostPlace& place = places[static_cast<std::size_t>(rank)];
    place.hosts = static_cast<int>(seen.size());
    place.most = most;
    if (rank > 0) complete(transport, transport.send(rank, kTag, as_message(place)), rank, timeout, kWhat);
  }
  return places.front();
}

}  // namespace

Seconds clock_ahead_of_first(Transport& transport, const std::function<Seconds()>& now, Seconds timeout) {
  if (transport.rank() == 0) {
    for (Rank peer = 1; peer < transport.size(); ++peer) compare_with(peer, transport, now, timeout);
    return Seconds(0);
  }
  double message = 0;
  for (int i = 0; i < kMessages; ++i) {
    complete(transport, transport.receive(0, kClockTag, as_message(message)), 0, timeout, kClocks);
    message = now().value;
    complete(transport, transport.send(0, kClockTag, as_message(message)), 0, timeout, kClocks);
  }
  complete(transport, transport.receive(0, kClockTag, as_message(message)), 0, timeout, kClocks);
  return Seconds(message);
}

HostPlace find_host_place(Transport& transport, Seconds timeout) {
  if (transport.rank() == 0) return lead(transport, timeout);
  HostName name = own_name();
  HostPlace place;
  complete(transport, transport.send(0, kTag, as_message(name)), 0, timeout, kWhat);
  complete(transport, transport.receive(0, kTag, as_message(place)), 0, timeout, kWhat);
  return place;
}

void share_from_first(Transport& transport, std::span<std::byte> message, Seconds timeout) {
  if (transport.rank() > 0) return complete(transport, transport.receive(0, kTag, message), 0, timeout, kWhat);
  for (Rank rank = 1; rank < transport.size(); ++rank)
    complete(transport, transport.send(rank, kTag, message), rank, timeout, kWhat);
}

}  // namespace hbench
