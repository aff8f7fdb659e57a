#pragma once

/// A schedule on messages that begin and end together, a round at a time: what NCCL's groups are made for.

#include <span>
#include <vector>

#include "collectives/executors/operand.hpp"
#include "collectives/executors/operation.hpp"
#include "collectives/executors/rank_program.hpp"

namespace hbench {

/// One rank's messages. They are told to the rank's device: those between `begin` and `end` happen at the same time,
/// after what the device was told before and before what it is told next. Between two ranks they arrive in the order
/// sent; every rank gives what its peers expect.
class GroupedMessages {
 public:
  virtual ~GroupedMessages() = default;
  virtual Device& device() = 0;
  virtual void begin() = 0;
  virtual void send(Rank to, std::span<const std::byte> payload) = 0;
  virtual void receive(Rank from, std::span<std::byte> landing) = 0;
  virtual void end() = 0;
  /// \throws Error (lost_rank) when a peer is known to have failed.
  virtual void check() {}
  /// What the device was told and has not done is not waited for any more: the job is over. Any number of times.
  virtual void abandon() = 0;
};

/// The whole collective is told to the device at the first `progress`; nothing waits in between. `messages` and the
/// operand's memory outlive it. Destroyed early, it abandons its messages.
class GroupedProgram final : public Operation {
 public:
  GroupedProgram(RankPlan plan, GroupedMessages& messages, const Operand& operand);
  ~GroupedProgram() override;
  GroupedProgram(const GroupedProgram&) = delete;
  GroupedProgram& operator=(const GroupedProgram&) = delete;

  bool progress() override;
  void restart() override;
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override { return {}; }
  std::int64_t bytes_sent() const override { return bytes_sent_; }

 private:
  void tell();
  void tell(const RankPlan::Step& step);
  std::span<std::byte> chunks(const Transfer& transfer) const;
  /// Whether what arrives must not be written before the round is over.
  bool staged(const RankPlan::Step& step, const Transfer& receive) const;
  std::size_t staging_of(const RankPlan::Step& step) const;

  RankPlan plan_;
  GroupedMessages& messages_;
  Device& device_;
  Operand operand_;
  DeviceMemory staging_;
  bool told_ = false;
  bool complete_ = false;
  Moment end_;
  std::int64_t bytes_sent_ = 0;
};

}  // namespace hbench
