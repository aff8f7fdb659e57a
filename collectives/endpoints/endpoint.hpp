#pragma once

/// One rank's way to the others: what collectives and the training engine run on.

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/library.hpp"
#include "collectives/transport/doorbell.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

struct EmulatedCosts;

/// Schedules that are asked for again and again, each built once: building takes milliseconds in large worlds (ring,
/// 128 ranks: one), and a training step has many buckets. Not thread-safe.
class ScheduleCache {
 public:
  /// With more than `most_transfers` in it, it forgets all schedules before it builds another one.
  explicit ScheduleCache(std::size_t most_transfers = std::numeric_limits<std::size_t>::max())
      : most_(most_transfers) {}

  /// Lives until the cache forgets it; with `shards`, which are another for every bucket, until the next call with
  /// shards. In groups: one for each of them, side by side. \pre as for `AlgorithmChoice::build`.
  const Schedule& of(const AlgorithmChoice& algorithm, const World& world, int segments,
                     std::span<const Shard> shards = {}, const RankGroups& groups = {});

 private:
  using Key = std::tuple<const Algorithm*, std::string, World, int, RankGroups>;
  std::size_t most_;
  std::size_t kept_ = 0;  ///< transfers
  std::map<Key, Schedule> built_;
  Schedule placed_;
};

/// Owned by its rank; called by one thread at a time.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  /// For messages whose bytes lie where `device` reaches them.
  virtual Transport& transport() = 0;
  /// For all other messages between ranks, whose bytes lie in host memory.
  virtual Transport& control() { return transport(); }
  /// What this rank has exchanged so far, in messages and in memory that ranks share.
  ByteCounts& byte_counts() { return transport().byte_counts(); }
  /// Where the operands of this endpoint's collectives lie.
  virtual Device& device() { return transport().device(); }
  /// Memory for buffers of collectives, aligned to a cache line and zeroed: of the kind that this endpoint's
  /// collectives are fastest on. Lives as long as the endpoint. All ranks call it in the same order with the same size.
  virtual std::span<std::byte> allocate(std::size_t bytes);
  /// This rank's part of `schedule` on `operand`; nothing moves before the first `progress`. Ranks prepare their
  /// collectives in the same order. `codec` (per-hop) encodes what travels, and is null where elements travel as they
  /// are; it and the operand's memory outlive the operation.
  virtual std::unique_ptr<Operation> prepare(const Schedule& schedule, const Operand& operand, const Codec* codec);
  /// A tag for the messages of one operation. Ranks reserve tags in the same order; `prepare` reserves one, too.
  int reserve_tag();
  /// The library's own collective over all ranks, in place; its `progress` may block until all are there. Ranks
  /// call it in the same order; it begins with the call. \throws Error (usage) where there is no library behind the
  /// transport, or it lacks the type.
  virtual std::unique_ptr<Operation> vendor(CollectiveKind collective, const Operand& operand);
  /// Rung whenever a message or an operation of this endpoint may make progress. Null where that can only be found out
  /// by asking: messages that a library carries, or a device that works later.
  virtual Doorbell* doorbell() { return nullptr; }
  /// All ranks are on one host and read each other's buffers.
  virtual bool shares_memory() const { return false; }
  /// Of the collectives on this endpoint.
  ScheduleCache& schedules() { return schedules_; }
  /// Ends the whole job at once. The caller has reported why.
  [[noreturn]] virtual void abort(int exit_code) = 0;

 private:
  std::vector<DeviceMemory> memory_;
  ScheduleCache schedules_;
  int reserved_ = 0;
};

/// Makes a rank's device; all ranks' are of one kind.
using DeviceFactory = std::function<std::shared_ptr<Device>(Rank rank)>;

/// Endpoints of `ranks` ranks that are threads of this process; they share what they need. Without a factory their
/// data lie in host memory; with one, all operands lie where the ranks' devices can reach them.
std::vector<std::unique_ptr<Endpoint>> make_thread_endpoints(int ranks, const DeviceFactory& device = {});

/// Whether MPI was built in (whether the launcher is there is the launcher's business).
Availability mpi_availability();
/// The MPI that is loaded, as it names itself: `Open MPI v4.1.4`; empty without. Does not initialise it.
std::string mpi_library();
/// This process's endpoint in the MPI world it was started in: initialises MPI (MPI_THREAD_SERIALIZED) when
/// made and finalises it when destroyed. \throws Error (environment) when MPI was not built in.
std::unique_ptr<Endpoint> make_mpi_endpoint();

/// Whether ranks of one host can share memory; they start under MPI.
Availability shm_availability();
/// The same as `make_mpi_endpoint`, but ranks of one host reach each other by memory that they all have mapped, and
/// only those of different hosts by MPI. On buffers from `allocate` nothing is copied between ranks of one host; others
/// work, and are copied into shared memory first. All-reduces in which each chunk has one owner (`direct`, co-located
/// parameter servers) take one pass over memory where all ranks are on one host. `ranks_per_host` > 0 takes that number
/// of consecutive ranks for a host, to try several hosts on one. \throws Error (environment).
std::unique_ptr<Endpoint> make_shm_endpoint(int ranks_per_host);

/// The same ranks on an emulated network: messages of `inner`, which outlives it, with the costs of a cluster that its
/// links cannot have (`collectives/transport/emulated_transport.hpp`). Control messages go by `control`, whose messages
/// have their latency already; null: as the others. Has no vendor's collectives and no doorbell.
std::unique_ptr<Endpoint> make_emulated_endpoint(Endpoint& inner, const EmulatedCosts& costs,
                                                 std::unique_ptr<Transport> control = nullptr);

}  // namespace hbench
