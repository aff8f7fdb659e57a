#pragma once

/// One rank's part of one schedule, executed step by step over a transport.
///
/// This is the only interpreter of schedules that moves bytes between ranks; the transports differ, the
/// semantics (rounds, staging, reduce or copy, encode and decode) are written here once.

#include <memory>
#include <span>
#include <string>

#include "collectives/arithmetic/operand.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/program/rank_plan.hpp"
#include "collectives/transport/operation.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// One rank's part of a collective. `codec` (null: elements travel as they are; else they are float32), `transport` and
/// the operand's memory outlive it; `plan` is read by the constructor only. Once complete the buffer holds the result:
/// the same bits on all workers, with lossy codecs too. Nothing is sent before the first `progress`. A rank enters
/// rounds ahead of the slowest message where data allow it, a bounded number at once. Restarting allocates nothing.
/// Destroyed early, it cancels what it has posted. Many programs may be in flight on one transport with different tags.
class RankProgram final : public Operation {
 public:
  /// \throws Error (usage) when plan, operand and transport do not fit each other.
  RankProgram(const RankPlan& plan, const Codec* codec, Transport& transport, int tag, const Operand& operand);
  ~RankProgram() override;
  RankProgram(const RankProgram&) = delete;
  RankProgram& operator=(const RankProgram&) = delete;

  bool progress() override;
  void restart() override;
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override;
  std::int64_t bytes_sent() const override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hbench
