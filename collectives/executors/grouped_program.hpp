#pragma once

/// A schedule on messages that begin and end together, a round at a time: what NCCL's groups are made for.

#include <optional>
#include <span>
#include <vector>

#include "collectives/executors/operand.hpp"
#include "collectives/executors/operation.hpp"
#include "collectives/executors/rank_program.hpp"
#include "collectives/executors/turns.hpp"

namespace hbench {

/// One rank's messages. They are told to the rank's device: those between `begin` and `end` happen at the same time,
/// after what the device was told before and before what it is told next. Between two ranks they arrive in the order
/// sent; every rank gives what its peers expect.
class GroupedMessages {
 public:
  virtual ~GroupedMessages() = default;
  virtual Device& device() = 0;
  /// Of all that speaks to whoever carries the messages.
  virtual Turns& turns() = 0;
  virtual void begin() = 0;
  virtual void send(Rank to, std::span<const std::byte> payload) = 0;
  virtual void receive(Rank from, std::span<std::byte> landing) = 0;
  virtual void end() = 0;
  /// Whether the device has been told all of the last round; before that neither it nor a next round may be told
  /// anything. Never blocks. \throws Error (lost_rank) when a peer is known to have failed.
  virtual bool idle() { return true; }
  /// What the device was told and has not done is not waited for any more: the job is over. Any number of times.
  virtual void abandon() = 0;
};

/// Rounds are told to the device as fast as `messages` take them; the device waits for nobody in between but its peers.
/// Programs on the same messages are told one after the other, in the order of their first `progress`, which must be
/// the same on all ranks. `messages` and the operand's memory outlive it. Destroyed early, it abandons its messages.
class GroupedProgram final : public Operation {
 public:
  GroupedProgram(RankPlan plan, GroupedMessages& messages, const Operand& operand);
  ~GroupedProgram() override;
  GroupedProgram(const GroupedProgram&) = delete;
  GroupedProgram& operator=(const GroupedProgram&) = delete;

  bool progress() override;
  void restart() override;
  void take_turn() override;
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override { return {}; }
  std::int64_t bytes_sent() const override { return bytes_sent_; }

 private:
  /// Tells the device what can be told now; true once it knows all.
  bool tell();
  void begin();
  void begin(const RankPlan::Step& step);
  void finish(const RankPlan::Step& step);
  void finish();
  std::span<std::byte> chunks(const Transfer& transfer) const;
  /// Whether what arrives must not be written before the round is over.
  bool staged(const RankPlan::Step& step, const Transfer& receive) const;
  std::size_t staging_of(const RankPlan::Step& step) const;

  RankPlan plan_;
  GroupedMessages& messages_;
  Device& device_;
  Operand operand_;
  DeviceMemory staging_;
  std::vector<std::span<std::byte>> landings_;  ///< of the round that is being told
  std::size_t round_ = 0;
  std::optional<Turns::Ticket> turn_;
  bool begun_ = false;
  bool in_round_ = false;
  bool told_ = false;
  bool complete_ = false;
  Moment end_;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace hbench
