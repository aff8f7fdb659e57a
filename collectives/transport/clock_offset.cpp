#include "collectives/transport/clock_offset.hpp"

#include "collectives/transport/posted_message.hpp"
#include "collectives/transport/wait.hpp"

namespace hbench {
namespace {

/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and nobody else's.
constexpr int kTag = 901;
constexpr int kMessages = 10;

void await(Transport& transport, Transport::Request request, Rank peer, Seconds timeout) {
  PostedMessage message(transport, request, peer);
  wait_for(message, timeout, "while clocks are compared");
}

/// Rank 0's part with one other.
void compare_with(Rank peer, Transport& transport, const std::function<Seconds()>& now, Seconds timeout) {
  double ahead = 0, quickest = 0;
  for (int i = 0; i < kMessages; ++i) {
    double theirs = 0;
    const Seconds asked = now();
    await(transport, transport.send(peer, kTag, as_message(theirs)), peer, timeout);
    await(transport, transport.receive(peer, kTag, as_message(theirs)), peer, timeout);
    const Seconds answered = now();
    const double took = (answered - asked).value;
    if (i > 0 && took >= quickest) continue;
    quickest = took;
    ahead = theirs - (asked.value + answered.value) / 2;
  }
  await(transport, transport.send(peer, kTag, as_message(ahead)), peer, timeout);
}

}  // namespace

Seconds clock_ahead_of_first(Transport& transport, const std::function<Seconds()>& now, Seconds timeout) {
  if (transport.rank() == 0) {
    for (Rank peer = 1; peer < transport.size(); ++peer) compare_with(peer, transport, now, timeout);
    return Seconds(0);
  }
  double message = 0;
  for (int i = 0; i < kMessages; ++i) {
    await(transport, transport.receive(0, kTag, as_message(message)), 0, timeout);
    message = now().value;
    await(transport, transport.send(0, kTag, as_message(message)), 0, timeout);
  }
  await(transport, transport.receive(0, kTag, as_message(message)), 0, timeout);
  return Seconds(message);
}

}  // namespace hbench
