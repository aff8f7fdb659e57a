#include "collectives/transport/clock_offset.hpp"

#include "collectives/transport/posted_message.hpp"

namespace hbench {
namespace {

/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and nobody else's.
constexpr int kTag = 901;
constexpr std::string_view kWhat = "while clocks are compared";
constexpr int kMessages = 10;

/// Rank 0's part with one other.
void compare_with(Rank peer, Transport& transport, const std::function<Seconds()>& now, Seconds timeout) {
  double ahead = 0, quickest = 0;
  for (int i = 0; i < kMessages; ++i) {
    double theirs = 0;
    const Seconds asked = now();
    complete(transport, transport.send(peer, kTag, as_message(theirs)), peer, timeout, kWhat);
    complete(transport, transport.receive(peer, kTag, as_message(theirs)), peer, timeout, kWhat);
    const Seconds answered = now();
    const double took = (answered - asked).value;
    if (i > 0 && took >= quickest) continue;
    quickest = took;
    ahead = theirs - (asked.value + answered.value) / 2;
  }
  complete(transport, transport.send(peer, kTag, as_message(ahead)), peer, timeout, kWhat);
}

}  // namespace

Seconds clock_ahead_of_first(Transport& transport, const std::function<Seconds()>& now, Seconds timeout) {
  if (transport.rank() == 0) {
    for (Rank peer = 1; peer < transport.size(); ++peer) compare_with(peer, transport, now, timeout);
    return Seconds(0);
  }
  double message = 0;
  for (int i = 0; i < kMessages; ++i) {
    complete(transport, transport.receive(0, kTag, as_message(message)), 0, timeout, kWhat);
    message = now().value;
    complete(transport, transport.send(0, kTag, as_message(message)), 0, timeout, kWhat);
  }
  complete(transport, transport.receive(0, kTag, as_message(message)), 0, timeout, kWhat);
  return Seconds(message);
}

}  // namespace hbench
