#pragma once

/// A schedule on messages that begin and end together, a round at a time: what NCCL's groups are made for.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/device/device.hpp"
#include "collectives/program/messages.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// The order in which operations issue work to a library that needs the same order on every rank (NCCL): one after the
/// other, in the order of `take`. Used by one thread at a time.
class Turns {
 public:
  using Ticket = std::uint64_t;

  /// Queues an operation.
  Ticket take() {
    waiting_.push_back(++last_);
    return last_;
  }
  /// Whether the operation is the first of the queue, and may issue.
  bool has(Ticket ticket) const { return !waiting_.empty() && waiting_.front() == ticket; }
  /// Leaves the queue, from any position.
  void leave(Ticket ticket) { std::erase(waiting_, ticket); }

 private:
  std::deque<Ticket> waiting_;
  Ticket last_ = 0;
};

/// One rank's messages. They are enqueued on the rank's device: those between `begin` and `end` happen at the same
/// time, after the work enqueued before them and before the work enqueued next. Messages between two ranks arrive in
/// the order sent; every rank sends what its peers expect.
class GroupedMessages {
 public:
  virtual ~GroupedMessages() = default;
  virtual Device& device() = 0;
  /// The order of all operations that issue messages to this library.
  virtual Turns& turns() = 0;
  /// Of this rank; programs count in it.
  virtual ByteCounts& byte_counts() = 0;
  virtual void begin() = 0;
  virtual void send(Rank to, std::span<const std::byte> payload) = 0;
  virtual void receive(Rank from, std::span<std::byte> landing) = 0;
  virtual void end() = 0;
  /// Whether all of the last round is enqueued; until then nothing may be enqueued on the device, and no round begun.
  /// Never blocks. \throws Error (lost_rank) when a peer is known to have failed.
  virtual bool idle() { return true; }
  /// Cancels messages that are in flight, which ends the job. May be called again.
  virtual void cancel() = 0;
};

/// Enqueues rounds as fast as `messages` take them; between rounds the device waits for its peers only. Programs on the
/// same messages are enqueued one after the other, in the order of their first `progress`, which must be the same on
/// all ranks. With a codec chunks are encoded before the round that sends them, and decoded behind it. `messages`,
/// `codec` and the operand's memory outlive it. Destroyed early, it cancels its messages.
class GroupedProgram final : public Operation {
 public:
  /// \param codec null: elements travel as they are
  GroupedProgram(const RankPlan& plan, GroupedMessages& messages, const Operand& operand, const Codec* codec = nullptr);
  ~GroupedProgram() override;

  bool progress() override;
  void restart() override;
  void take_turn() override;
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  /// Enqueues what can be enqueued now; true once all rounds are.
  bool enqueue();
  void begin();
  void begin_round();
  void finish_round();
  /// Those of the round that is being enqueued: receives, then sends.
  std::span<const Message> round() const;
  std::span<std::byte> landing(const Message& receive) const;

  bool in_place_;  ///< messages carry elements as they are, which land where they belong
  GroupedMessages& messages_;
  Device& device_;
  Operand operand_;
  MessagePlan plan_;
  DeviceMemory staging_;
  ChunkImage image_;
  std::int32_t run_ = 0;  ///< how often it was restarted
  std::size_t round_ = 0;
  std::optional<Turns::Ticket> turn_;
  bool begun_ = false;
  bool in_round_ = false;
  bool enqueued_ = false;
  bool complete_ = false;
  Event end_;
};

}  // namespace hbench
