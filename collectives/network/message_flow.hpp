#pragma once

/// Messages between ranks in virtual time.
///
/// They travel on connections, one from each rank to each other. A connection carries its messages in order. It has one
/// turn's bytes in flight at most, be that a piece of a long message or several short ones, and then the links of its
/// way have passed them before it sends more. A link serves connections first come, first served. So the connections of
/// a link have even parts of it, as those of TCP have, and one whose receiver is busy leaves its sender's link to the
/// others.
///
/// Were each message to have a link for itself, whole tensors would be too fast: what is pushed would not have to
/// share the link with what is sent back at the same time.

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/network/event_queue.hpp"
#include "collectives/network/network.hpp"

namespace hbench {

/// Not thread-safe.
class MessageFlow {
 public:
  /// What a connection puts on a link before another one has its turn, in bytes, where all wait for the last message of
  /// a step. A quarter of it takes twice as long to simulate, and changes steps of ResNet-50 and VGG-16 on 4 to 16 GPUs
  /// by 1.3 % at most, but for one (4 %).
  static constexpr std::int64_t kTurn = std::int64_t{1} << 20;

  /// An event of the owner's own; all three mean what the owner says.
  struct Cue {
    int kind = 0;
    int subject = 0;
    int part = 0;
  };
  /// Whoever sends.
  class Owner {
   public:
    /// All of a message is there, and handled, at `at`, which may lie ahead. Called from within `send` and `advance`;
    /// it may add cues, and must not send.
    virtual void arrived(int sender, const Transfer& transfer, double at) = 0;
    /// The time of a cue has come. Called from within `advance`.
    virtual void cued(const Cue& cue) = 0;

   protected:
    ~Owner() = default;
  };

  /// Both outlive it. `turn` bytes are what a connection carries before another has its turn.
  MessageFlow(Network& network, Owner& owner, std::int64_t turn = kTurn)
      : network_(&network),
        owner_(&owner),
        turn_(turn),
        connection_of_(static_cast<std::size_t>(network.world().ranks())) {}

  /// Adds an event of the owner's.
  void cue(double at, const Cue& cue) { events_.push(at, cue); }
  /// Sends what `transfer` says, as `whole` and as `bytes` long, from `start` on. `sender` is handed back when it has
  /// arrived. \pre sender and receiver are two ranks.
  void send(int sender, const Transfer& transfer, const Network::Message& whole, std::int64_t bytes, double start);

  bool idle() const { return events_.empty(); }
  /// When the next event is; it may be before the last one. \pre not `idle`
  Seconds next_event() const { return Seconds(events_.next()); }
  /// Handles it. \pre not `idle`
  void advance();

  /// How much memory a message needs at most while it waits.
  static constexpr std::int64_t bytes_per_message() { return static_cast<std::int64_t>(sizeof(Queued)); }

 private:
  /// A message that waits on its connection, or whose first pieces have been sent.
  struct Queued {
    int sender = 0;
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
  /// The kind of cue that is no owner's: the turn of the connection `subject`.
  static constexpr int kTakesTurn = -1;

  int connection(Rank src, Rank dst);
  void enqueue(int connection, const Queued& queued);
  /// What one turn of a connection carries: a piece of a long message, or short ones that come to no more than one.
  void take_turn(int connection);
  /// Returns when the message is ready at its receiver, where it was the last piece.
  std::optional<double> send_piece(Connection& connection, Queued& queued);

  Network* network_;
  Owner* owner_;
  std::int64_t turn_;
  std::vector<std::vector<int>> connection_of_;  ///< by sender, of those that have sent, and receiver; -1: none yet
  std::vector<Connection> connections_;
  std::vector<Queued> queued_;
  std::vector<int> unused_;  ///< places in `queued_`
  EventQueue<Cue> events_;
  double now_ = 0;  ///< of the event in hand
};

}  // namespace hbench
