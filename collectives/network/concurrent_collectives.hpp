#pragma once

/// Collectives that are in flight together, in virtual time.
///
/// Where each tensor is a request of its own to a parameter server, messages of many collectives meet on the links of
/// a node (`message_flow.hpp`).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/network/message_flow.hpp"
#include "collectives/network/simulation_plan.hpp"
#include "collectives/placement/placement.hpp"

namespace hbench {

/// One of them, prepared for a buffer of one length: which of its transfers leave first, and what follows them.
/// Immutable.
struct ConcurrentPlan {
  /// The transfers of a chunk beyond its first round: `next` up to `end`, by round.
  struct Chunk {
    std::size_t next = 0, end = 0;
    int missing = 0;  ///< transfers of the round in flight that have not arrived
  };

  /// \pre each transfer of `plan` carries one chunk, as those of an `Algorithm::concurrent`
  ConcurrentPlan(const RankLayout& layout, const SimulationPlan& plan, std::int64_t elements);

  std::vector<std::int64_t> chunk_begin;  ///< in elements; one more for the end
  std::vector<Transfer> transfers;        ///< chunks' first rounds as the schedule lists them, then the others by chunk
  std::size_t first_rounds = 0;           ///< the number of transfers in first rounds
  std::vector<Chunk> chunks;              ///< before anything has left
  Moved moved;                            ///< as `SimulationPlan::moved`
};

/// Plans that are asked for again and again, each made once, for one cluster whatever its rates. Not thread-safe.
class ConcurrentPlans {
 public:
  /// `elements` in `shards`, among the ranks of `world`, which are at `layout`.
  std::shared_ptr<const ConcurrentPlan> of(const RankLayout& layout, const World& world,
                                           const AlgorithmChoice& algorithm, const std::vector<Shard>& shards,
                                           std::int64_t elements);

 private:
  using Key = std::tuple<World, const Algorithm*, std::string, std::int64_t, std::vector<std::int64_t>>;
  std::size_t kept_ = 0;  ///< transfers
  std::map<Key, std::shared_ptr<const ConcurrentPlan>> made_;
};

/// Not thread-safe.
class ConcurrentCollectives : private MessageFlow::Owner {
 public:
  /// `network` outlives it; `encoding` is how all of them travel.
  ConcurrentCollectives(Network& network, const Encoding& encoding)
      : network_(&network), messages_(network, encoding), flow_(network, *this) {}
  ConcurrentCollectives(const ConcurrentCollectives&) = delete;
  ConcurrentCollectives& operator=(const ConcurrentCollectives&) = delete;

  /// Begins a collective whose workers hold its buffer from `start` on, and returns its number: 0, 1, 2 and so on.
  /// Chunks do not wait for each other.
  int begin(std::shared_ptr<const ConcurrentPlan> plan, Seconds start);

  bool idle() const { return flow_.idle(); }
  /// When the next event is; it may be before the last one. \pre not `idle`
  Seconds next_event() const { return flow_.next_event(); }
  /// Handles it, and returns the number of the collective that is finished with it: everybody holds everything.
  /// \pre not `idle`
  std::optional<int> advance();

  /// How much memory one needs at most while it is in flight.
  static std::int64_t bytes_in_flight(const World& world, const Shape& shape);

 private:
  struct Collective {
    std::shared_ptr<const ConcurrentPlan> plan;
    std::vector<ConcurrentPlan::Chunk> chunks;
    std::vector<double> ready;  ///< by chunk and rank: when all that has come is there
    double finish;
    int unfinished = 0;  ///< chunks
  };
  enum CueKind : int { kBegin, kRound, kFinish };  ///< of the collective, and the chunk, that a cue is about

  double& ready(Collective& collective, int chunk, Rank rank) {
    return collective.ready[static_cast<std::size_t>(chunk) * ranks() + static_cast<std::size_t>(rank)];
  }
  std::size_t ranks() const { return static_cast<std::size_t>(network_->world().ranks()); }
  /// The first rounds of all chunks.
  void send_first_rounds(int number);
  /// The next round of a chunk, now that the last one has arrived; or its end.
  void prepare_round(int number, int chunk);
  void send_round(int number, int chunk);
  void send(int number, const Transfer& transfer);
  void arrived(int number, const Transfer& transfer, double at) override;
  void cued(const MessageFlow::Cue& cue) override;

  Network* network_;
  Messages messages_;
  std::vector<std::unique_ptr<Collective>> collectives_;  ///< by number; null: finished
  MessageFlow flow_;
  std::optional<int> finished_;  ///< by the event in hand
};

}  // namespace hbench
