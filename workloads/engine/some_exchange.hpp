#pragma once

/// What a rank exchanges with servers, or with some other ranks: the side of a plan's task that is not among all.

#include <cstdint>
#include <map>
#include <memory>

#include "collectives/fusion/fusion.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// One rank's. Used by one thread at a time.
class SomeExchange {
 public:
  virtual ~SomeExchange() = default;

  /// An iteration of a worker begins, by its number in the job: its parameters stay as they are until its update.
  virtual void begin_step(int /*iteration*/) {}
  /// A worker's exchange of a bucket.
  virtual std::unique_ptr<Operation> exchange(const Bucket& bucket) = 0;
  /// Answers other ranks as far as that can be done now; whether anything was.
  virtual bool progress() { return false; }
  /// Whether other ranks may ask something of this one at any time.
  virtual bool answers() const { return false; }
  /// No other rank will ask anything of this one any more.
  virtual bool done() const { return true; }
  /// A worker leaves the job after this number of iterations. Returns when it needs no other rank any more, and none
  /// needs it.
  virtual void leave(int /*iterations*/) {}
  /// On rank 0, once all have left: how often servers applied a gradient, by the number of others that
  /// it was computed without. Empty elsewhere, and without servers. All ranks call it.
  virtual std::map<int, std::int64_t> gather_unseen() { return {}; }
};

}  // namespace hbench
