#pragma once

/// Collectives that are in flight together, in virtual time.
///
/// Where each tensor is a request of its own to a parameter server, messages of many collectives meet on the links of
/// a node. They travel on connections, one from each rank to each other. A connection carries its messages in order. It
/// has a MiB in flight at most, be that a piece of a long message or several short ones, and then the links of its way
/// have passed them before it sends more. A link serves connections first come, first served. So the connections of a
/// link have even parts of it, as those of TCP have, and one whose receiver is busy leaves its sender's link to the
/// others.
///
/// Were each message to have a link for itself, whole tensors would be too fast: what is pushed would not have to
/// share the link with what is sent back at the same time.

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "collectives/network/network.hpp"
#include "collectives/network/simulation_plan.hpp"

namespace hbench {

/// Not thread-safe.
class ConcurrentCollectives {
 public:
  /// What a connection puts on a link before another one has its turn, in bytes. A quarter of it takes twice as long to
  /// simulate, and changes steps of ResNet-50 and VGG-16 on 4 to 16 GPUs by 1.3 % at most, but for one (4 %).
  static constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

  /// `network` outlives it; `encoding` is how all of them travel.
  ConcurrentCollectives(Network& network, const Encoding& encoding)
      : network_(&network), messages_(network, encoding) {}

  /// Begins a collective whose workers hold its buffer of `elements` from `start` on, and returns its number: 0, 1, 2
  /// and so on. Chunks do not wait for each other. `plan` may go away.
  /// \pre each transfer carries one chunk, as those of an `Algorithm::concurrent`
  int begin(const SimulationPlan& plan, std::int64_t elements, Seconds start);

  bool idle() const { return events_.empty(); }
  /// When the next event is; it may be before the last one. \pre not `idle`
  Seconds next_event() const { return Seconds(events_.top().at); }
  /// Handles it, and returns the number of the collective that is finished with it: everybody holds everything.
  /// \pre not `idle`
  std::optional<int> advance();

  /// How much memory one needs at most while it is in flight.
  static std::int64_t bytes_in_flight(const World& world, const Shape& shape);

 private:
  /// The transfers of a chunk beyond its first round: `next` up to `end`, by round.
  struct Chunk {
    std::size_t next = 0, end = 0;
    int missing = 0;  ///< transfers of the round in flight that have not arrived
  };
  struct Collective {
    std::vector<std::int64_t> chunk_begin;  ///< in elements; one more for the end
    std::vector<Transfer> transfers;  ///< chunks' first rounds as the schedule lists them, then the others by chunk
    std::size_t first_rounds = 0;     ///< the number of transfers in first rounds
    std::vector<Chunk> chunks;
    std::vector<double> ready;  ///< by chunk and rank: when all that has come is there
    double finish;
    int unfinished = 0;  ///< chunks
  };
  /// A message that waits on its connection, or whose first pieces have been sent.
  struct Queued {
    int collective = 0;
    Transfer transfer;
    int pieces = 1;           ///< that are left
    int next = -1;            ///< the message behind it on its connection
    double start = 0;         ///< when its first piece can be sent, at the soonest
    Network::Message each{};  ///< a piece; `afterwards` is the whole message's
    std::int64_t bytes = 0;   ///< of a piece
    double handled = 0;       ///< when a server has handled what it has of the message
  };
  /// From one rank to another.
  struct Connection {
    int first = -1, last = -1;  ///< in `queued_`
    double free_at = 0;         ///< when links have passed its last piece
  };
  enum class EventKind : std::uint8_t { begin, round, turn, finish };
  struct Event {
    double at;
    std::int64_t order;  ///< events of one time come in the order in which they were made
    EventKind kind;
    int subject;  ///< the collective, or the connection
    int chunk;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  double& ready(Collective& collective, int chunk, Rank rank) {
    return collective.ready[static_cast<std::size_t>(chunk) * ranks() + static_cast<std::size_t>(rank)];
  }
  std::size_t ranks() const { return static_cast<std::size_t>(network_->world().ranks()); }
  void add_event(double at, EventKind kind, int subject, int chunk = 0) {
    events_.push({at, made_++, kind, subject, chunk});
  }
  int connection(Rank src, Rank dst);
  /// The first rounds of all chunks.
  void send_first_rounds(int number);
  /// The next round of a chunk, now that the last one has arrived; or its end.
  void prepare_round(int number, int chunk);
  void send_round(int number, int chunk);
  int pieces_of(std::int64_t elements) const;
  void send(int number, const Transfer& transfer);
  void enqueue(int connection, const Queued& queued);
  /// What one turn of a connection carries: a piece of a long message, or short ones that come to no more than one.
  void take_turn(int connection);
  /// Returns when the message is ready at its receiver, where it was the last piece.
  std::optional<double> send_piece(Connection& connection, Queued& queued);
  void arrive(int number, const Transfer& transfer, double at);

  Network* network_;
  Messages messages_;
  std::vector<std::unique_ptr<Collective>> collectives_;  ///< by number; null: finished
  std::unordered_map<std::int64_t, int> connection_of_;   ///< by sender and receiver
  std::vector<Connection> connections_;
  std::vector<Queued> queued_;
  std::vector<int> unused_;  ///< places in `queued_`
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t made_ = 0;
  double now_ = 0;  ///< of the event in hand
};

}  // namespace hbench
