#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// One rank's part of a collective in flight. Never blocks; progressed by one thread at a time.
class Operation {
 public:
  virtual ~Operation() = default;
  /// Does what can be done now. True once this rank's part is complete; its buffer is then free again.
  virtual bool progress() = 0;
  /// Queues the operation behind those queued before, where a library needs one order on all ranks; elsewhere nothing.
  /// The first `progress` does so too.
  virtual void take_turn() {}
  /// Whether the ranks that it waits for have cores of their own, so that waiting without a pause keeps nobody from
  /// working.
  virtual bool may_spin() const { return false; }
  /// Begins again on the same buffer, as MPI's persistent collectives do. \pre complete, on every rank.
  virtual void restart() { throw std::logic_error("this operation runs once"); }
  /// What it waits for, for a person: `rank 3 in round 2 of 6`. Empty when complete.
  virtual std::string waiting_for() const = 0;
  /// The ranks whose messages are outstanding (receives first), for naming a late rank; may be empty where
  /// a library does not report them.
  virtual std::vector<Rank> waiting_ranks() const = 0;
};

/// `rank 3`, `ranks 0, 3`.
std::string text_of_ranks(const std::vector<Rank>& ranks);

}  // namespace hbench
