#pragma once

/// One rank's part of one schedule, executed step by step over a transport.
///
/// This is the only interpreter of schedules that moves bytes between ranks; the transports differ, the
/// semantics (rounds, staging, reduce or copy, encode and decode) are written here once.

#include <memory>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// Makes one rank's part of a collective. `codec` (null: elements travel as they are; else they are float32),
/// `transport` and the operand's memory outlive it; `plan` need not. Once complete the buffer holds the result: the
/// same bits on all workers, with lossy codecs too. Nothing is sent before the first `progress`. A rank enters rounds
/// ahead of the slowest message where data allow it, a bounded number at once. Restarting allocates nothing. Destroyed
/// early, it cancels what it has posted. Many programs may be in flight on one transport with different tags. \throws
/// Error (usage) when plan, operand and transport do not fit each other.
std::unique_ptr<Operation> make_rank_program(const RankPlan& plan, const Codec* codec, Transport& transport, int tag,
                                             const Operand& operand);

}  // namespace hbench
